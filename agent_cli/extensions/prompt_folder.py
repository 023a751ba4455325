"""Where files lie that commands and skills are read from."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Complain = Callable[[str, str], None]
"""Tells the user what is wrong, and what to do."""


@dataclass(frozen=True)
class Folder:
    """A folder of the user's own, or of a project they trust."""

    path: Path
    kind: Literal["user", "project"]

    @property
    def is_users(self) -> bool:
        """Whether it is the user's: they may link files into it."""
        return self.kind == "user"
