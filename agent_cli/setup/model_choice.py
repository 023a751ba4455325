"""The model chosen during setup, saved for the next start."""

from dataclasses import asdict, dataclass
from pathlib import Path

from agent_cli.lib.files import read_json_object, write_private_json

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
        held = read_json_object(self._path, MAX_BYTES)
        model, base = held.get("model"), held.get("api_base")
        if not isinstance(model, str):
            return None
        return ModelChoice(model, base if isinstance(base, str) else None)

    def keep(self, choice: ModelChoice) -> None:
        """Remember it; raises OSError."""
        write_private_json(self._path, asdict(choice))
