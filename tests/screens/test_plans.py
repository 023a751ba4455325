"""Plan mode on the screen."""

import pytest

from agent_cli.core.policy import Mode
from agent_cli.frontends.tui import screen_view
from agent_cli.frontends.tui.modals.plan_modal import PlanModal
from tests.kit.sessions import SceneMaker
from tests.screens.app import running
from tests.screens.host import at_once

PRESENT = {"calls": [{"name": "ExitPlanMode", "arguments": {"plan": "# A\n\n1. Write new.txt"}}]}


@pytest.fixture(autouse=True)
def no_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are not about keys typed ahead."""
    monkeypatch.setattr(screen_view, "PlanModal", lambda plan: PlanModal(plan, guard=at_once()))


async def test_a_yes_to_a_plan_changes_the_mode_that_is_shown(make_session: SceneMaker) -> None:
    scene = make_session(PRESENT, {"text": "Off I go."}, settings={"mode": "plan"})
    async with running(scene) as screen:
        assert screen.status.strip().startswith("plan")
        await screen.send("go")
        await screen.asked("Carry out this plan?", "Write new.txt")
        await screen.pilot.press("a")
        await screen.shows("Off I go.", "Approved: accept-edits mode")
        assert screen.status.strip().startswith("accept-edits")


async def test_escape_keeps_planning(make_session: SceneMaker) -> None:
    scene = make_session(PRESENT, {"text": "Still planning."}, settings={"mode": "plan"})
    async with running(scene) as screen:
        await screen.send("go")
        await screen.asked("Carry out this plan?")
        await screen.pilot.press("escape")
        await screen.shows("Still planning.")
        assert scene.session.mode is Mode.PLAN
