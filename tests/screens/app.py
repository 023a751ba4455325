"""The whole app around a scripted session."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from agent_cli.core.session import Session
from agent_cli.frontends.tui.app import AgentApp
from agent_cli.frontends.tui.app_parts import AppParts, connect
from agent_cli.frontends.tui.modals.guarded_modal import GuardedModal
from agent_cli.frontends.tui.screen_view import ScreenView
from agent_cli.storage.prompt_history import PromptHistory
from agent_cli.storage.session_store import Sessions
from tests.kit.reading import stands_on
from tests.kit.sessions import Scene
from tests.kit.shells import until
from tests.screens.host import screen_text, type_text


class Screen:
    """The running app, its pilot, and what a person sees of it."""

    def __init__(self, app: AgentApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot
        self.expects_faults = False
        """Whether the test is about a fault of ours."""

    @property
    def session(self) -> Session:
        return self.app.session

    @property
    def view(self) -> ScreenView:
        assert self.app._opened is not None
        return self.app._opened.view

    @property
    def text(self) -> str:
        return screen_text(self.app)

    @property
    def status(self) -> str:
        """The status line."""
        return self.text.splitlines()[-1]

    async def send(self, text: str) -> None:
        """Type a text and press Enter."""
        await type_text(self.pilot, text)
        if self.app.composer.is_open:
            await self.pilot.press("escape")
        await self.pilot.press("enter")

    async def shows(self, *texts: str) -> None:
        """Wait until all of these stand on the screen."""

        def all_there() -> bool:
            shown = self.text
            return all(stands_on(shown, text) for text in texts)

        try:
            await until(all_there)
        except AssertionError:
            raise AssertionError(f"{texts} never stood on:\n{self.text}") from None

    async def asked(self, *texts: str) -> None:
        """Wait until a modal with these texts can be answered."""
        await self.shows(*texts)
        await until(lambda: isinstance(self.app.screen, GuardedModal) and self.app.screen.seen_end)

    async def idle(self) -> None:
        """Wait until no turn is under way."""
        await until(lambda: not self.app.controller.is_busy)
        await self.pilot.pause()


@asynccontextmanager
async def running(
    scene: Scene, *, size: tuple[int, int] = (100, 30), **options: Any
) -> AsyncIterator[Screen]:
    """The app with a scene's session."""
    app = app_of(scene, **options)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(lambda: app.is_open)
        await pilot.pause()
        screen = Screen(app, pilot)
        yield screen
        told = "\n".join(block.plain_text() for block in app.transcript.blocks)
        assert screen.expects_faults or "this is a bug in agent" not in told, told


def app_of(scene: Scene, **options: Any) -> AgentApp:
    """The app with a scene's session, not running yet."""
    history = PromptHistory.of_project(scene.home, scene.workspace, str)

    async def opening() -> AppParts:
        sessions = Sessions(scene.home / ".local/state/agent")
        return connect(app, scene.session, history, sessions=sessions)

    app = AgentApp(opening, root=scene.workspace, real_terminal=False, **options)
    return app
