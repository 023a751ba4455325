"""Agents and profiles on the screen."""

import pytest

from agent_cli.core.policy import Mode
from agent_cli.frontends.tui import screen_view
from agent_cli.frontends.tui.modals.approval_modal import ApprovalModal
from tests.kit.sessions import SceneMaker
from tests.screens.app import running
from tests.screens.host import at_once


@pytest.fixture(autouse=True)
def no_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are not about keys typed ahead."""

    def modal(*arguments: object, **options: object) -> ApprovalModal:
        return ApprovalModal(*arguments, **{**options, "guard": at_once()})  # type: ignore[arg-type]

    monkeypatch.setattr(screen_view, "ApprovalModal", modal)


async def test_an_agent_is_one_call_and_asks_in_its_name(make_session: SceneMaker) -> None:
    directory = make_session.home / ".config" / "agent" / "agents"
    directory.mkdir(parents=True)
    (directory / "builder.md").write_text("---\nmodel: other\n---\nBuild.")
    agent_task = {"description": "make a file", "prompt": "make it", "profile": "builder"}
    scene = make_session(
        {"calls": [{"name": "Task", "arguments": agent_task}]},
        {"text": "All is made."},
        models={
            "other": [
                {"calls": [{"name": "Bash", "arguments": {"command": "touch made"}}]},
                {"text": "It is there."},
            ]
        },
    )
    async with running(scene) as screen:
        await screen.send("go")
        await screen.asked("builder: Run this command?", "touch made")
        await screen.pilot.press("y")
        await screen.shows("All is made.", "builder: make a file", "builder · 1 call")
        assert "touch made" not in screen.text  # the agent's calls are folded into its own
        assert (scene.workspace / "made").exists()


async def test_what_an_agent_does_is_shown_while_it_does_it(make_session: SceneMaker) -> None:
    directory = make_session.home / ".config" / "agent" / "agents"
    directory.mkdir(parents=True)
    (directory / "finder.md").write_text("---\nmodel: other\n---\nFind.")
    agent_task = {"description": "look around", "prompt": "look", "profile": "finder"}
    looks = [{"calls": [{"name": "Glob", "arguments": {"pattern": "*.odd"}}]}, {"hang": True}]
    scene = make_session(
        {"calls": [{"name": "Task", "arguments": agent_task}]}, models={"other": looks}
    )
    async with running(scene) as screen:
        await screen.send("go")
        await screen.shows("finder: look around", "Glob *.odd")
        await screen.pilot.press("escape")
        await screen.shows("Interrupted")
        await screen.idle()


async def test_a_profile_is_changed_by_a_command(make_session: SceneMaker) -> None:
    async with running(make_session()) as screen:
        await screen.send("/profile")
        await screen.shows("The profile is default", "review", "read-only")
        await screen.send("/profile plan")
        await screen.shows("The profile is now plan")
        assert screen.session.mode is Mode.PLAN
        assert screen.status.strip().startswith("plan")
        await screen.send("/profile nobody")
        await screen.shows("There is no profile named nobody.")
