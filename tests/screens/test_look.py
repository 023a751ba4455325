"""Mode, theme and motion."""

import pytest
from textual.filter import Monochrome, NoColor

from agent_cli.frontends.tui import themes
from tests.kit.sessions import SceneMaker
from tests.screens.app import running


async def test_the_mode_is_always_visible(make_session: SceneMaker) -> None:
    async with running(make_session(), size=(60, 20)) as screen:
        for text, mode in (("/plan", "plan"), ("/plan", "default"), ("/mode yolo", "yolo")):
            await screen.send(text)
            await screen.pilot.pause()
            assert screen.status.strip().startswith(f"{mode} ⇧⇥")
        for mode in ("default", "accept-edits", "plan", "auto", "default"):
            await screen.pilot.press("shift+tab")
            await screen.pilot.pause()
            assert screen.status.strip().startswith(f"{mode} ⇧⇥")


@pytest.mark.parametrize(
    ("background", "theme"),
    [
        ("0;15", "agent-light"),
        ("0;default;7", "agent-light"),
        ("15;0", "agent-dark"),
        ("", "agent-dark"),
    ],
)
def test_the_terminal_chooses_between_dark_and_light(background: str, theme: str) -> None:
    assert themes.by_terminal({"COLORFGBG": background}) == theme


async def test_a_theme_that_does_not_exist_is_told(make_session: SceneMaker) -> None:
    async with running(make_session(), theme="nope") as screen:
        await screen.shows("There is no theme nope.")
        assert screen.app.theme == "agent-dark"


async def test_reduced_motion_stills_everything(make_session: SceneMaker) -> None:
    async with running(make_session({"hang": True}), reduced_motion=True) as screen:
        assert screen.app.animation_level == "none"
        await screen.send("go")
        await screen.shows("working")
        assert not set("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏") & set(screen.text)
        screen.session.interrupt()
        await screen.idle()


async def test_no_color_leaves_no_colour(
    make_session: SceneMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(make_session()) as screen:
        assert any(isinstance(each, Monochrome | NoColor) for each in screen.app._filters)
