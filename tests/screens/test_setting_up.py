"""The set-up on its screen: what is there comes first, and nothing of a key is shown."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent_cli.config.user_directories import Directories
from agent_cli.frontends.tui.setting_up import SetupApp
from agent_cli.lib import language
from agent_cli.models.providers import PROVIDERS
from agent_cli.setup.model_choice import ModelChoice
from agent_cli.setup.setup_service import SetupService
from tests.kit import snapshots
from tests.kit.local_servers import NO_SERVERS
from tests.kit.shells import until
from tests.screens.host import screen_text, type_text
from tests.screens.test_chinese import english_on

KEY = "sk-a-key-that-nobody-shall-see"
NAMES = (
    "setup LiteLLM ANTHROPIC_API_KEY anthropic/claude-sonnet moonshot/kimi",
    *(provider.title for provider in PROVIDERS),
)

spoken = pytest.mark.parametrize("tongue", ["en", "zh"])
sizes = pytest.mark.parametrize("size", [(100, 30), (60, 20)], ids=["wide", "narrow"])


@asynccontextmanager
async def setting_up(
    place: Path, tongue: str, size: tuple[int, int]
) -> AsyncIterator[tuple[SetupApp, Pilot[ModelChoice]]]:
    """The set-up with one key in the environment and no server on this machine."""
    language.use(tongue)
    variables = {"ANTHROPIC_API_KEY": KEY, "AGENT_LOCAL_PORTS": NO_SERVERS}
    app = SetupApp(SetupService(Directories(place, place / "state"), variables))
    app.theme = "agent-dark"
    try:
        async with app.run_test(size=size) as pilot:
            yield app, pilot
    finally:
        language.use("en")


async def check(app: SetupApp, pilot: Pilot[ModelChoice], name: str, tongue: str) -> None:
    await pilot.pause()
    text = screen_text(app)
    assert KEY not in text
    picture = app.export_screenshot(simplify=False)
    snapshots.check(f"set-up/{name}-{tongue}-{app.size.width}", picture, text.split("\n"))
    if tongue != "en":
        assert english_on(text, *NAMES) == set()


@spoken
@sizes
async def test_what_is_there_comes_first(
    tmp_path: Path, tongue: str, size: tuple[int, int]
) -> None:
    async with setting_up(tmp_path, tongue, size) as (app, pilot):
        await until(lambda: "ANTHROPIC_API_KEY" in screen_text(app))
        await check(app, pilot, "start", tongue)


@spoken
@sizes
async def test_a_key_is_asked_for_and_not_shown(
    tmp_path: Path, tongue: str, size: tuple[int, int]
) -> None:
    async with setting_up(tmp_path, tongue, size) as (app, pilot):
        await until(lambda: "ANTHROPIC_API_KEY" in screen_text(app))
        await type_text(pilot, "LiteLLM")
        await pilot.press("enter")
        await until(lambda: "anthropic/claude-sonnet" in screen_text(app))
        await type_text(pilot, "moonshot/kimi-k2")
        await pilot.press("enter")
        await until(lambda: "Moonshot" in screen_text(app))
        await type_text(pilot, KEY)
        await until(lambda: "•••" in screen_text(app))
        await check(app, pilot, "key", tongue)
