"""Where our own files live."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_cli.config.directories import FILE, directories


@dataclass(frozen=True)
class Directories:
    """The user's directories for settings and state."""

    config: Path
    state: Path

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Directories":
        """`AGENT_HOME` moves both; otherwise XDG's directories."""
        config, state = directories(environment)
        return cls(Path(config), Path(state))

    @property
    def config_file(self) -> Path:
        """The user's settings."""
        return self.config / FILE

    @property
    def log_file(self) -> Path:
        """Where the program writes what it says about itself."""
        return self.state / "agent.log"
