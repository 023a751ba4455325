"""The model of a session when nobody has named one."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_cli.config.places import Places
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.models.guide import NAME as GUIDE
from agent_cli.runtime import chosen_model, load_settings, whole_environment
from agent_cli.setup.choice import Choice
from agent_cli.wishes import Wishes

if TYPE_CHECKING:
    from agent_cli.setup.desk import SetupDesk

NOTHING_FOUND = (
    "No key and no model on this machine were found, so this is the offline guide, which follows "
    "rules. Say `tour` to be shown around; `agent setup` chooses a model."
)

Asker = Callable[["SetupDesk"], Awaitable[Choice | None]]
"""How a frontend goes through a set-up."""


async def with_a_model(wishes: Wishes, ask: Asker) -> tuple[Wishes, str]:
    """Wishes that name a model, and what to tell the person about it; raises UserError."""
    environment = whole_environment()
    loaded = await asyncio.to_thread(load_settings, wishes, environment)
    if loaded.settings.model:
        return wishes, ""
    found = await _find(environment)
    if found is None and not wishes.attended:
        chosen_model(loaded.settings)  # says what is missing
    choice, note = found or (await _asked(environment, ask), "")
    named = {"model": choice.model, "api_base": choice.api_base}
    given = {name: value for name, value in named.items() if value}
    return replace(wishes, settings={**wishes.settings, **given}), note


async def _find(environment: dict[str, str]) -> tuple[Choice, str] | None:
    """The one clear choice; None: the person has to choose."""
    from agent_cli.setup.findings import look, propose  # noqa: PLC0415 (rarely needed)
    from agent_cli.setup.keys import KeyStore  # noqa: PLC0415

    findings = await look(environment, KeyStore(Places.of(environment).config).load())
    if proposal := propose(findings):
        words = f"Using {proposal.choice.model}, because {proposal.because}."
        return proposal.choice, f"{words} `agent setup` chooses another."
    return (Choice(GUIDE), NOTHING_FOUND) if findings.is_empty else None


async def _asked(environment: dict[str, str], ask: Asker) -> Choice:
    from agent_cli.setup.desk import SetupDesk  # noqa: PLC0415 (rarely needed)

    desk = SetupDesk(Places.of(environment), environment)
    try:
        choice = await ask(desk)
    finally:
        await desk.close()
    if choice is None:
        raise UserError(
            "No model was chosen.",
            hint="`agent setup` helps to choose one.",
            exit_code=ExitCode.INTERRUPTED,
        )
    return choice
