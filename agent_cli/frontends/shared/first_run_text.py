"""The model of a session when nobody has named one."""

from collections.abc import Mapping
from dataclasses import replace

from agent_cli.config.user_directories import Directories
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.launch_options import LaunchOptions
from agent_cli.lib.language import mark, tr
from agent_cli.models.guide import NAME as GUIDE
from agent_cli.setup.model_choice import ModelChoice

NOTHING_FOUND = mark(
    "No API key or local model found, so this is the offline guide, which follows fixed rules. "
    "Say `tour` to look around, or run `agent setup` to choose a model."
)


async def clear_choice(environment: Mapping[str, str]) -> tuple[ModelChoice | None, str]:
    """The one clear choice and what to tell about it; None: there is something to choose."""
    from agent_cli.setup.findings import look, propose  # noqa: PLC0415 (rarely needed)
    from agent_cli.setup.key_store import KeyStore  # noqa: PLC0415

    findings = await look(environment, KeyStore(Directories.of(environment).config).load())
    if proposal := propose(findings):
        return proposal.choice, tr(
            "Using {model}, because {reason}. `agent setup` chooses another.",
            model=proposal.choice.model,
            reason=proposal.because,
        )
    if findings.is_empty:
        return ModelChoice(GUIDE), tr(NOTHING_FOUND)
    return None, ""


def naming(launch_options: LaunchOptions, choice: ModelChoice | None) -> LaunchOptions:
    """The launch options with a model; raises UserError if the user chose none."""
    if choice is None:
        raise UserError(
            tr("No model was chosen."),
            hint=tr("`agent setup` helps to choose one."),
            exit_code=ExitCode.INTERRUPTED,
        )
    named = {"model": choice.model, "api_base": choice.api_base}
    given = {name: value for name, value in named.items() if value}
    return replace(launch_options, settings={**launch_options.settings, **given})
