"""The prompt comes first; what is typed before there is a session is not lost."""

import asyncio
from pathlib import Path

from agent_cli.core.errors import UserError
from agent_cli.frontends.tui.app import AgentApp
from agent_cli.frontends.tui.app_parts import AppParts, connect
from agent_cli.storage.prompt_history import PromptHistory
from tests.kit.sessions import Scene, SceneMaker
from tests.kit.shells import until
from tests.screens.app import Screen


def waiting_app(scene: Scene, may_open: asyncio.Event) -> AgentApp:
    """An app whose session is there when somebody says so."""
    history = PromptHistory.of_project(scene.home, scene.workspace, str)

    async def opening() -> AppParts:
        await may_open.wait()
        return connect(app, scene.session, history)

    app = AgentApp(opening, root=scene.workspace, real_terminal=False)
    return app


async def test_a_prompt_sent_before_the_session_is_there_waits_for_it(
    make_session: SceneMaker,
) -> None:
    scene = make_session({"text": "the answer"})
    may_open = asyncio.Event()
    app = waiting_app(scene, may_open)
    async with app.run_test(size=(100, 30)) as pilot:
        screen = Screen(app, pilot)
        await screen.send("early question")
        await screen.send("/cost")
        await pilot.press("l", "a", "t", "e", "r", "shift+tab", "ctrl+b", "ctrl+b", "f1")
        await screen.shows("▌ later")
        assert "default" not in screen.status
        await pilot.press("ctrl+p")
        assert len(app.screen_stack) == 1, "there are no commands to search yet"
        assert not scene.model.requests
        may_open.set()
        await screen.shows("Ready. ", "early question", "the answer", "$0.00", "▌ later")
        assert len(scene.model.requests) == 1


async def test_the_command_menu_opens_when_there_are_commands(make_session: SceneMaker) -> None:
    may_open = asyncio.Event()
    app = waiting_app(make_session(), may_open)
    async with app.run_test(size=(100, 30)) as pilot:
        screen = Screen(app, pilot)
        await pilot.press("/", "c", "o")
        await screen.shows("▌ /co")
        may_open.set()
        await screen.shows("/context", "/cost")


async def test_ctrl_c_twice_leaves_before_there_is_a_session(make_session: SceneMaker) -> None:
    app = waiting_app(make_session(), asyncio.Event())
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("ctrl+c", "ctrl+c")
        await until(lambda: app.return_code is not None)
    assert app.return_value == 0


async def test_what_keeps_a_session_from_opening_ends_the_app_and_is_told_outside() -> None:
    async def opening() -> AppParts:
        raise UserError("No model chosen.", hint="Name one.")

    app = AgentApp(opening, root=Path("/"), real_terminal=False)
    async with app.run_test():
        await until(lambda: app.refusal is not None)
    assert app.refusal is not None
    assert app.refusal.message == "No model chosen."
    assert app.return_value == app.refusal.exit_code
