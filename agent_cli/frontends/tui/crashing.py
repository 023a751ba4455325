"""An app that leaves a log instead of a screen full of traceback when it fails."""

import logging
from typing import TypeVar

from textual.app import App

log = logging.getLogger(__name__)

R = TypeVar("R")


class CrashingApp(App[R]):
    """Textual restores the terminal; whoever started the app says where the log is."""

    crash: Exception | None = None
    """What ended the app, if it did not end well."""

    def _handle_exception(self, error: Exception) -> None:
        self.crash = self.crash or error
        log.critical("the screen failed", exc_info=error)
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        self._close_messages_no_wait()
