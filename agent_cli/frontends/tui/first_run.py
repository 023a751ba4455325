"""The model of a session when nobody has named one."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_cli.config.places import Places
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.models.guide import NAME as GUIDE
from agent_cli.runtime import load_settings, whole_environment
from agent_cli.setup.choice import Choice
from agent_cli.wishes import Wishes

if TYPE_CHECKING:
    from agent_cli.frontends.tui.app import AgentApp

NOTHING_FOUND = (
    "No key and no model on this machine were found, so this is the offline guide, which follows "
    "rules. Say `tour` to be shown around; `agent setup` chooses a model."
)


async def with_a_model(app: "AgentApp", wishes: Wishes) -> tuple[Wishes, str]:
    """Wishes that name a model, and what to tell the person about it; raises UserError."""
    environment = whole_environment()
    loaded = await asyncio.to_thread(load_settings, wishes, environment)
    if loaded.settings.model:
        return wishes, ""
    choice, note = await _find(app, environment)
    named = {"model": choice.model, "api_base": choice.api_base}
    given = {name: value for name, value in named.items() if value}
    return replace(wishes, settings={**wishes.settings, **given}), note


async def _find(app: "AgentApp", environment: dict[str, str]) -> tuple[Choice, str]:
    """The one clear choice; otherwise the person is asked, if there is anything to choose."""
    from agent_cli.setup.findings import look, propose  # noqa: PLC0415 (rarely needed)
    from agent_cli.setup.keys import KeyStore  # noqa: PLC0415

    places = Places.of(environment)
    findings = await look(environment, KeyStore(places.config).load())
    if proposal := propose(findings):
        words = f"Using {proposal.choice.model}, because {proposal.because}."
        return proposal.choice, f"{words} `agent setup` chooses another."
    if findings.is_empty:
        return Choice(GUIDE), NOTHING_FOUND
    return await _ask(app, places, environment), ""


async def _ask(app: "AgentApp", places: Places, environment: dict[str, str]) -> Choice:
    from agent_cli.frontends.tui.setting_up import SetupScreen  # noqa: PLC0415 (rarely needed)
    from agent_cli.setup.desk import SetupDesk  # noqa: PLC0415

    desk = SetupDesk(places, environment)
    try:
        choice = await app.push_screen_wait(SetupScreen(desk))
    finally:
        await desk.close()
    if choice is None:
        raise UserError(
            "No model was chosen.",
            hint="`agent setup` helps to choose one.",
            exit_code=ExitCode.INTERRUPTED,
        )
    return choice
