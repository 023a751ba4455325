"""What went wrong, on the screen."""

import logging

import pytest

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.frontends.tui import start
from agent_cli.frontends.tui.guarded_app import MAX_FAULTS
from tests.kit.sessions import SceneMaker
from tests.kit.shells import until
from tests.screens.app import running

FAILS = {"error": {"kind": "authentication", "message": "no such key"}}


async def test_a_failed_turn_is_tried_again_by_key_and_by_command(make_session: SceneMaker) -> None:
    scene = make_session(FAILS, FAILS, {"text": "now it works"})
    async with running(scene) as screen:
        await screen.send("go")
        await screen.shows("no such key", "r or /retry to try again")
        await screen.idle()
        await screen.pilot.press("tab", "r")
        await screen.idle()
        assert len(scene.model.requests) == 2
        screen.app.composer.prompt.focus()
        await screen.send("/retry")
        await screen.shows("now it works")
        assert [m.role for m in scene.session.messages] == ["user", "assistant"]


async def test_there_is_nothing_to_retry_after_success(make_session: SceneMaker) -> None:
    async with running(make_session({"text": "fine"})) as screen:
        await screen.send("go")
        await screen.shows("fine")
        await screen.idle()
        await screen.send("/retry")
        await screen.shows("Nothing to retry")


async def test_a_broken_command_of_ours_does_not_end_the_app(
    make_session: SceneMaker, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(controller: Controller, argument: str) -> None:
        raise RuntimeError("[/oops]")

    monkeypatch.setattr(logging.getLogger("agent_cli"), "propagate", True)
    async with running(make_session({"text": "alive"})) as screen:
        screen.expects_faults = True
        screen.app.controller._own_commands += (Command(name="broken", help="", run=broken),)
        await screen.send("/broken")
        await screen.shows("/broken failed: this is a bug in agent (RuntimeError: [/oops])")
        await screen.send("go")
        await screen.shows("alive")
    assert "RuntimeError" in caplog.text


async def test_a_fault_while_drawing_is_logged_and_the_session_continues(
    make_session: SceneMaker, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("agent_cli"), "propagate", True)
    async with running(make_session({"text": "one"}, {"text": "two"})) as screen:
        with monkeypatch.context() as patch:
            patch.setattr(screen.view.writer, "write", lambda event: 1 / 0)
            await screen.send("go")
            await until(lambda: "ZeroDivisionError" in caplog.text)
            await screen.idle()
        await screen.send("again")
        await screen.shows("two")


async def test_a_screen_that_only_fails_ends_the_app_with_one_line(
    make_session: SceneMaker,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logging.getLogger("agent_cli"), "propagate", True)
    with pytest.raises(RuntimeError):
        async with running(make_session()) as screen:
            screen.expects_faults = True
            for _ in range(MAX_FAULTS + 1):
                screen.app._handle_exception(RuntimeError("broken\nscreen"))
    assert "RuntimeError: broken" in caplog.text
    assert isinstance(screen.app.crash, RuntimeError)
    assert start.tell_crash(screen.app.crash, screen.session) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "agent.log" in told


async def test_a_crash_says_how_to_resume(
    make_session: SceneMaker, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = make_session({"text": "said"})
    await scene.play()
    start.tell_crash(RuntimeError("broken"), scene.session)
    assert f"Resume with agent -r {scene.session.id}" in capsys.readouterr().err
