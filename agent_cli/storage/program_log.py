"""What the program says about itself: a private file, never the screen."""

import logging
import os
from pathlib import Path


def start_log(file: Path) -> None:
    """Write to this file from now on; do without if that cannot be."""
    logger = logging.getLogger("agent_cli")
    if logger.handlers:
        return
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler: logging.Handler = logging.FileHandler(file, delay=True)
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600))
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)
    logger.propagate = False
