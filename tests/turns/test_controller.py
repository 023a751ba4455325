"""What every view gets from the controller, seen through a view without a screen."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.controller.view import Menu
from agent_cli.core.errors import UserError
from agent_cli.core.events import PromptAdded, TextDelta, ToolFinished, TurnFinished
from agent_cli.core.inbox import Approval, Request, RequestAnswer
from agent_cli.core.messages import text_of
from agent_cli.core.policy import Mode
from tests.kit.fake_view import FakeView, controlled
from tests.kit.sessions import SceneMaker, of_type
from tests.kit.shells import until

YOLO = {"mode": "yolo"}
WAITS: dict[str, Any] = {
    "calls": [{"id": "c1", "name": "Bash", "arguments": {"command": "touch x"}}]
}


def yes(_request: Request) -> RequestAnswer:
    return Approval(answer="once")


def never(_request: Request) -> RequestAnswer | None:
    return None


def prompts(view: FakeView) -> list[str]:
    return [event.text for event in of_type(view.events, PromptAdded)]


async def asked(view: FakeView) -> None:
    await until(lambda: bool(view.asked))


async def test_what_is_submitted_meanwhile_waits_its_turn(make_session: SceneMaker) -> None:
    scene = make_session({"text": "one"}, {"text": "two"}, {"text": "three"})
    controller, view = controlled(scene.session)
    for text in ("first", "second", "third"):
        controller.submit(text)
    assert [each.text for each in controller.queue] == ["second", "third"]
    assert controller.unqueue() == "third"
    await controller.idle()
    assert prompts(view) == ["first", "second"]
    assert len(of_type(view.events, TurnFinished)) == 2


async def test_a_queued_message_can_steer_the_running_turn(make_session: SceneMaker) -> None:
    scene = make_session(WAITS, {"text": "done"})
    controller, view = controlled(scene.session)
    view.answer = never
    controller.submit("begin")
    await asked(view)
    controller.submit("and hurry")
    controller.submit_empty()
    assert controller.queue == []
    view.answer = yes
    await controller.idle()
    assert prompts(view) == ["begin", "and hurry"]


async def test_an_interrupt_holds_the_queue_until_it_is_sent_on(make_session: SceneMaker) -> None:
    scene = make_session(WAITS, {"text": "two"}, {"text": "three"}, settings=YOLO)
    scene.session.set_mode(Mode.DEFAULT)
    controller, view = controlled(scene.session)
    view.answer = never
    controller.submit("begin")
    await asked(view)
    controller.submit("!touch queued")
    controller.submit("second")
    assert controller.interrupt()
    await controller.idle()
    assert [each.text for each in controller.queue] == ["!touch queued", "second"]
    assert not (scene.workspace / "queued").exists()
    assert any("on hold" in text for text in view.notices)
    controller.submit("first of all")
    await controller.idle()
    assert prompts(view) == ["begin", "first of all"]
    assert controller.unqueue() == "second"
    controller.submit_empty()
    await controller.idle()
    assert (scene.workspace / "queued").exists()
    assert controller.queue == []
    controller.submit("third")
    await controller.idle()
    assert prompts(view) == ["begin", "first of all", "third"]


async def test_a_question_is_answered_by_its_id(make_session: SceneMaker) -> None:
    scene = make_session(WAITS, {"text": "done"})
    controller, view = controlled(scene.session)
    view.answer = yes
    controller.submit("make x")
    await controller.idle()
    assert (scene.workspace / "x").exists()
    assert controller.questions.count == 0


async def test_a_yes_is_no_way_around_a_mode_that_was_chosen_meanwhile(
    make_session: SceneMaker,
) -> None:
    scene = make_session(WAITS, {"text": "done"})
    controller, view = controlled(scene.session)
    view.answer = never
    controller.submit("make x")
    await asked(view)
    controller.set_mode("plan")
    view.answer = lambda _: Approval(answer="session")
    await controller.idle()
    assert not (scene.workspace / "x").exists()
    (result,) = of_type(view.events, ToolFinished)
    assert not result.result.success
    assert "plan mode" in text_of(result.result.llm_content)


async def test_a_command_that_has_to_wait_says_which_and_for_what(
    make_session: SceneMaker,
) -> None:
    touch = {"calls": [{"name": "Bash", "arguments": {"command": "touch y"}}]}
    scene = make_session(touch, {"text": "done"}, WAITS, {"text": "done"}, settings=YOLO)
    controller, view = controlled(scene.session)
    controller.submit("make y")
    await controller.idle()
    leaves = asyncio.Event()

    async def choose(menu: Menu) -> str:
        view.menus.append(menu)
        await leaves.wait()
        return menu.leave

    view.choose = choose  # type: ignore[method-assign]
    controller.submit("/undo")
    await until(lambda: bool(view.menus))
    controller.submit("/clear")
    assert view.notices[-1] == "/clear has to wait: another command is not finished."
    leaves.set()
    await controller.idle()
    scene.session.set_mode(Mode.DEFAULT)
    view.answer = never
    controller.submit("make x")
    await asked(view)
    controller.submit("/fork")
    await until(lambda: "/fork has to wait" in view.notices[-1])
    assert "the agent is still working" in view.notices[-1]
    controller.interrupt()
    await controller.idle()


async def test_questions_asked_side_by_side_are_counted(make_session: SceneMaker) -> None:
    calls = [
        {"name": "Read", "arguments": {"file_path": f"/etc/{name}"}}
        for name in ("hosts", "group", "passwd")
    ]
    scene = make_session({"calls": calls}, {"text": "done"})
    controller, view = controlled(scene.session)
    positions: dict[str, str] = {}

    def decline(request: Request) -> RequestAnswer:
        positions.setdefault(request.id, controller.questions.position)
        return Approval()

    view.answer = decline
    controller.submit("read them")
    await controller.idle()
    assert list(positions.values()) == ["1 of 3", "2 of 3", "3 of 3"]


async def test_an_interrupted_turn_takes_its_question_down(make_session: SceneMaker) -> None:
    scene = make_session(WAITS, {"text": "done"}, {"text": "again"})
    controller, view = controlled(scene.session)
    view.answer = never
    controller.submit("make x")
    await asked(view)
    assert controller.interrupt()
    await controller.idle()
    await until(lambda: view.withdrawn == view.asked)
    assert controller.questions.count == 0
    assert controller.finished is not None
    assert controller.finished.reason == "interrupted"
    assert not (scene.workspace / "x").exists()


async def test_a_question_that_cannot_be_asked_is_a_no(make_session: SceneMaker) -> None:
    scene = make_session(WAITS, {"text": "done"})
    controller, view = controlled(scene.session)

    def broken(_request: Request) -> RequestAnswer:
        raise RuntimeError("no such modal")

    view.answer = broken
    controller.submit("make x")
    await controller.idle()
    (result,) = of_type(view.events, ToolFinished)
    assert not result.result.success
    assert any("no such modal" in text for text in view.notices)


async def test_a_view_that_cannot_draw_one_thing_shows_the_rest(make_session: SceneMaker) -> None:
    scene = make_session({"text": "hello"})
    controller, view = controlled(scene.session)
    view.breaks_on = TextDelta
    controller.submit("hi")
    await controller.idle()
    assert isinstance(view.events[-1], TurnFinished)
    assert controller.finished is not None
    assert controller.finished.text == "hello"


async def test_a_broken_command_is_told_and_ends_nothing(make_session: SceneMaker) -> None:
    async def later(_controller: Controller, _argument: str) -> None:
        raise RuntimeError("too late")

    def at_once(_controller: Controller, _argument: str) -> None:
        raise RuntimeError("too soon")

    def wrong(_controller: Controller, _argument: str) -> None:
        raise UserError("That is not how.", hint="This is how.")

    scene = make_session({"text": "still here"})
    view = FakeView()
    runs = {"later": later, "now": at_once, "wrong": wrong}
    own = [Command(name=name, help="", run=run) for name, run in runs.items()]
    controller = Controller(scene.session, view, commands=own)
    for name in runs:
        controller.submit(f"/{name}")
        await controller.idle()
    assert ["too late" in view.notices[0], "too soon" in view.notices[1]] == [True, True]
    assert view.notices[2] == "That is not how."
    controller.submit("hi")
    await controller.idle()
    assert controller.finished is not None
    assert controller.finished.text == "still here"


async def test_a_command_of_no_use_in_a_view_is_not_offered_there(make_session: SceneMaker) -> None:
    controller, view = controlled(make_session().session)
    view.unsupported = frozenset({"theme"})
    controller.submit("/theme dark")
    assert view.notices == ["/theme isn't available here."]
    assert view.theme == ""
    controller.submit("/help")
    assert "undo" in view.helped
    assert "theme" not in view.helped


async def test_only_a_failed_turn_is_retried(make_session: SceneMaker) -> None:
    error = {"error": {"kind": "bad_request", "message": "broken"}}
    scene = make_session({"text": "fine"}, error, {"text": "now it works"})
    controller, view = controlled(scene.session)
    controller.submit("hi")
    await controller.idle()
    controller.submit("/retry")
    await controller.idle()
    assert view.notices == ["Nothing to retry: the last turn didn't fail."]
    controller.submit("more")
    await controller.idle()
    assert controller.finished is not None
    assert controller.finished.reason == "failed"
    controller.submit("/retry")
    await controller.idle()
    assert controller.finished.text == "now it works"


async def test_undo_previews_asks_and_restores(make_session: SceneMaker) -> None:
    call = {"name": "Write", "arguments": {"file_path": "a.txt", "content": "new\n"}}
    scene = make_session({"calls": [call]}, {"text": "done"}, settings=YOLO)
    controller, view = controlled(scene.session)
    controller.submit("write it")
    await controller.idle()
    made = scene.workspace / "a.txt"
    controller.submit("/undo")
    await controller.idle()
    assert made.exists(), "declined, yet undone"
    view.choices = ["yes"]
    controller.submit("/undo")
    await controller.idle()
    assert not made.exists()
    assert [row.text for row in view.menus[-1].rows][-1] == "a.txt"
    assert view.notices[-1] == "Undid 1 change (1 file). /redo reapplies it."
    view.choices = ["yes"]
    controller.submit("/redo")
    await controller.idle()
    assert made.read_text() == "new\n"


async def test_diff_tells_what_is_changed_now_by_tools_and_by_the_shell(
    make_session: SceneMaker,
) -> None:
    calls = [
        {"name": "Write", "arguments": {"file_path": "a.txt", "content": "new\n"}},
        {"name": "Bash", "arguments": {"command": "echo own > b.txt"}},
    ]
    scene = make_session({"calls": calls}, {"text": "done"}, settings=YOLO)
    controller, view = controlled(scene.session)
    controller.submit("write it")
    await controller.idle()
    controller.submit("/diff")
    await controller.idle()
    assert "+new" in view.said[-1]
    assert "+own" in view.said[-1]
    view.choices = ["yes"]
    controller.submit("/undo")
    await controller.idle()
    controller.submit("/diff")
    await controller.idle()
    assert view.said[-1] == "No files were changed in this session."


async def test_rewind_restores_files_conversation_and_prompt(make_session: SceneMaker) -> None:
    call = {"name": "Write", "arguments": {"file_path": "a.txt", "content": "new\n"}}
    steps = ({"text": "hello"}, {"calls": [call]}, {"text": "done"})
    scene = make_session(*steps, settings=YOLO)
    controller, view = controlled(scene.session)
    for text in ("hi", "write it"):
        controller.submit(text)
        await controller.idle()
    view.choices = ["2", "both", "yes"]
    controller.submit("/rewind")
    await controller.idle()
    assert not (scene.workspace / "a.txt").exists()
    assert view.prefilled == ["write it"]
    assert [event.text for event in of_type(view.past, PromptAdded)] == ["hi"]
    assert controller.diffs == ()


async def test_nothing_starts_while_files_are_restored(make_session: SceneMaker) -> None:
    scene = make_session({"text": "hello"})
    controller, view = controlled(scene.session)
    with controller.exclusively():
        controller.submit("hi")
        assert len(controller.queue) == 1
        controller.submit("/undo")
        await asyncio.sleep(0.05)
    await controller.idle()
    assert "/undo has to wait: another command is not finished." in view.notices
    assert controller.finished is not None
    assert controller.finished.text == "hello"


async def test_a_command_of_the_users_own_runs_unasked(make_session: SceneMaker) -> None:
    scene = make_session({"text": "I see"})
    controller, view = controlled(scene.session)
    controller.submit("!echo own > made")
    assert controller.runs_own_command
    await controller.idle()
    assert (scene.workspace / "made").read_text() == "own\n"
    assert view.asked == []


async def test_the_mode_cycles_and_yolo_is_asked_for_by_name(make_session: SceneMaker) -> None:
    controller, _view = controlled(make_session().session)
    seen = []
    for _ in range(4):
        controller.next_mode()
        seen.append(controller.session.mode)
    assert seen == [Mode.ACCEPT_EDITS, Mode.PLAN, Mode.AUTO, Mode.DEFAULT]
    controller.submit("/mode yolo")
    assert controller.session.mode is Mode.YOLO


async def test_copy_takes_the_last_reply_or_everything(make_session: SceneMaker) -> None:
    controller, view = controlled(make_session({"text": "one"}, {"text": "two"}).session)
    for text in ("first", "second"):
        controller.submit(text)
        await controller.idle()
    controller.submit("/copy")
    controller.submit("/copy all")
    assert view.copied == ["two", "first\n\none\n\nsecond\n\ntwo"]


class FullDisk:
    """A prompt history that cannot be written."""

    def add(self, _text: str) -> None:
        raise OSError(28, "No space left on device")


async def test_a_full_disk_does_not_keep_a_prompt_from_being_sent(
    make_session: SceneMaker,
) -> None:
    scene = make_session({"text": "hello"})
    view = FakeView()
    controller = Controller(scene.session, view, history=FullDisk())  # type: ignore[arg-type]
    controller.submit("hi")
    await controller.idle()
    assert controller.finished is not None
    assert controller.finished.text == "hello"


async def test_leaving_for_another_session_waits_for_the_turn(make_session: SceneMaker) -> None:
    scene = make_session(WAITS, {"text": "done"})
    controller, view = controlled(scene.session)
    view.answer = never
    controller.submit("make x")
    await asked(view)
    controller.submit("/sessions other")
    await until(lambda: "/sessions has to wait: the agent is still working." in view.notices)
    assert not view.has_left
    view.answer = yes
    await controller.idle()
    controller.submit("/sessions other")
    await controller.idle()
    assert view.has_left
    assert controller.following is not None
    assert controller.following.text == "other"


async def test_closing_ends_what_is_under_way(make_session: SceneMaker, tmp_path: Path) -> None:
    scene = make_session(WAITS, {"text": "done"})
    controller, view = controlled(scene.session)
    view.answer = never
    controller.submit("make x")
    controller.submit("later")
    await asked(view)
    async with asyncio.timeout(10):
        await controller.close()
    assert not scene.session.is_running
    assert prompts(view) == ["make x"]


@pytest.mark.parametrize("text", ["/", "/nope", "/nope words"])
async def test_an_unknown_command_is_not_sent_to_the_model(
    make_session: SceneMaker, text: str
) -> None:
    scene = make_session({"text": "never"})
    controller, view = controlled(scene.session)
    controller.submit(text)
    await controller.idle()
    assert scene.model.requests == []
    assert view.notices
