"""The model chosen during setup, saved for the next start."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from agent_cli.lib.files import open_regular, private_directory, write_atomic

MAX_BYTES = 100_000


@dataclass(frozen=True)
class ModelChoice:
    """A model and where it is served."""

    model: str
    api_base: str | None = None


class ModelChoiceFile:
    """Holds the choice in the user's state; the settings file is the user's own."""

    def __init__(self, state: Path) -> None:
        self._path = state / "choice.json"

    def read(self) -> ModelChoice | None:
        """The choice; None if there is none, or none that can be read."""
        try:
            with os.fdopen(open_regular(self._path), "rb") as file:
                held = json.loads(file.read(MAX_BYTES))
        except (OSError, ValueError):
            return None
        if not isinstance(held, dict) or not isinstance(held.get("model"), str):
            return None
        base = held.get("api_base")
        return ModelChoice(held["model"], base if isinstance(base, str) else None)

    def keep(self, choice: ModelChoice) -> None:
        """Remember it; raises OSError."""
        private_directory(self._path.parent)
        write_atomic(self._path, json.dumps(asdict(choice)).encode(), mode=0o600)
