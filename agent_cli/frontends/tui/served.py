"""The app as a page: Textual's protocol over pipes."""

from textual import messages
from textual.drivers.web_driver import WebDriver


class ServedDriver(WebDriver):
    """Leaves when the server is gone."""

    def run_input_thread(self) -> None:
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._app.post_message(messages.ExitApp())
