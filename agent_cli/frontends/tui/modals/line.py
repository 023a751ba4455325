"""One line of text, typed by the user."""

from textual import events
from textual.widgets import Input

from agent_cli.safety.sanitise import clean


class Line(Input):
    """An input that takes the text of a paste and nothing that would act on the terminal."""

    def __init__(self, placeholder: str = "") -> None:
        super().__init__(placeholder=placeholder, classes="line", compact=True)
        self.cursor_blink = False

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert_text_at_cursor(" ".join(clean(event.text).split()))
