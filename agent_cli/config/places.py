"""Where our own files live."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Places:
    """The user's directories for settings and state."""

    config: Path
    state: Path

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Places":
        """`AGENT_HOME` moves both; otherwise XDG's directories."""
        if home := environment.get("AGENT_HOME"):
            return cls(Path(home), Path(home) / "state")
        user = Path(environment.get("HOME") or Path.home())
        config = environment.get("XDG_CONFIG_HOME") or user / ".config"
        state = environment.get("XDG_STATE_HOME") or user / ".local" / "state"
        return cls(Path(config) / "agent", Path(state) / "agent")

    @property
    def config_file(self) -> Path:
        """The user's settings."""
        return self.config / "config.toml"

    @property
    def log_file(self) -> Path:
        """Where the program writes what it says about itself."""
        return self.state / "agent.log"
