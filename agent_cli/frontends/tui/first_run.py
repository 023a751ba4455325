"""The model of a session when nobody has named one."""

import asyncio
import os
from dataclasses import replace

from agent_cli.config.places import Places
from agent_cli.models.guide import NAME as GUIDE
from agent_cli.runtime import Wishes, load_settings
from agent_cli.setup.choice import Choice
from agent_cli.setup.findings import look, propose
from agent_cli.setup.keys import KeyStore

NOTHING_FOUND = (
    "No key and no model on this machine were found, so this is the offline guide, which follows "
    "rules. Say `tour` to be shown around; `agent setup` chooses a model."
)


def with_a_model(wishes: Wishes) -> tuple[Wishes, str]:
    """Wishes that name a model, and what to tell the person about it."""
    if load_settings(wishes, os.environ).settings.model:
        return wishes, ""
    choice, note = asyncio.run(_find(Places.of(os.environ)))
    named = {"model": choice.model, "api_base": choice.api_base}
    given = {name: value for name, value in named.items() if value}
    return replace(wishes, settings={**wishes.settings, **given}), note


async def _find(places: Places) -> tuple[Choice, str]:
    """The one clear choice; otherwise the person is asked, if there is anything to choose."""
    findings = await look(os.environ, KeyStore(places.config).load())
    if proposal := propose(findings):
        words = f"Using {proposal.choice.model}, because {proposal.because}."
        return proposal.choice, f"{words} `agent setup` chooses another."
    if findings.is_empty:
        return Choice(GUIDE), NOTHING_FOUND
    from agent_cli.frontends.tui.setting_up import ask_on_screen  # noqa: PLC0415 (rarely needed)
    from agent_cli.setup.desk import SetupDesk  # noqa: PLC0415

    desk = SetupDesk(places, os.environ)
    try:
        choice = await ask_on_screen(desk)
    finally:
        await desk.close()
    if choice is None:
        raise KeyboardInterrupt
    return choice, ""
