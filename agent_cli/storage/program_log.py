"""What the program says about itself: a private file, never the screen."""

import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

from agent_cli.safety.redact import Redactor
from agent_cli.safety.terminal import write_err

_BY_SHAPE = Redactor({})


class QuietFileHandler(logging.FileHandler):
    """Writes to a file; where that cannot be done, it says so once instead of each time."""

    _has_said = False

    def handleError(self, record: logging.LogRecord) -> None:
        """Pass over a disk that is full or gone."""
        error = sys.exception()
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._has_said:
            self._has_said = True
            if not sys.stderr.isatty():  # a screen may be drawn there
                write_err(f"agent: the log cannot be written: {error.strerror or error}\n")


class RedactingFormatter(logging.Formatter):
    """Formats a record whole, texts of exceptions included, and removes secrets from it."""

    redact: Callable[[str], str] = staticmethod(lambda text: text)

    def format(self, record: logging.LogRecord) -> str:
        return self.redact(super().format(record))


def start_log(file: Path, redact: Callable[[str], str] = _BY_SHAPE.redact) -> None:
    """Write to this file from now on; do without if that cannot be. Whoever knows more secrets than
    their shapes says so with `redact`."""
    logger = logging.getLogger("agent_cli")
    RedactingFormatter.redact = staticmethod(redact)
    if logger.handlers:
        return
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler: logging.Handler = QuietFileHandler(file, delay=True)
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600))
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)
    logger.propagate = False
