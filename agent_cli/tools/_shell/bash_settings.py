"""The settings of the shell tools: `[tools.Bash]` in the configuration."""

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_cli.core.errors import ToolFailure
from agent_cli.core.tool_context import SessionView


class BashSettings(BaseModel):
    """What the user can change about Bash."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    auto_background_after: float = Field(60.0, ge=0)
    """Seconds after which a command becomes a background job; 0: never."""
    kill_grace: float = Field(0.8, ge=0, le=10)
    """Seconds between asking a process to end and killing it."""


def bash_settings(view: SessionView) -> BashSettings:
    """The settings that apply, or a failure that names what is wrong with them."""
    try:
        return BashSettings.model_validate(view.settings.get("Bash", {}))
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, problem['loc'])) or 'the table'}: {problem['msg']}"
            for problem in error.errors(include_url=False)
        )
        raise ToolFailure(f"The settings [tools.Bash] are not valid ({wrong}).") from error
