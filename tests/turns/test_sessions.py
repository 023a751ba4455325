"""Sessions that are left and gone on with: the model hears the same, the person sees the same."""

import errno
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.errors import UserError
from agent_cli.core.events import (
    Event,
    Notice,
    PromptAdded,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
)
from agent_cli.core.log.entries import Compacted, ReplyAbandoned, Titled
from agent_cli.core.log.history import read_history
from agent_cli.core.messages import AssistantMessage, UserMessage
from agent_cli.core.policy import Mode
from agent_cli.launch_options import Resume
from agent_cli.lib import sweep
from agent_cli.lib.watchdog import mark_of
from agent_cli.storage.session_log import SessionLog
from agent_cli.storage.session_store import Sessions
from tests.kit.sessions import Scene, SceneMaker, finish, of_type

READ = {
    "thinking": "hm",
    "text": "Look.",
    "calls": [{"name": "Read", "arguments": {"file_path": "a.txt"}}],
}
LAST = Resume()


def sessions_of(scene: Scene) -> Sessions:
    return Sessions(scene.home / ".local/state/agent")


async def test_the_model_hears_the_same_after_resuming(make_session: SceneMaker) -> None:
    first = make_session(READ, {"text": "It says hi."}, files={"a.txt": "hi\n"})
    await first.play("what is it?")
    await first.session.close()
    second = make_session({"text": "Yes."}, resume=LAST)
    assert second.session.id == first.session.id
    assert second.session.messages == first.session.messages
    await second.play("sure?")
    (request,) = second.model.requests
    assert request.messages == (*first.session.messages, UserMessage(content="sure?"))


async def test_what_a_killed_program_left_running_is_ended_first(make_session: SceneMaker) -> None:
    first = make_session({"text": "hi"})
    await first.play("hello")
    await first.session.close()
    mark = f"{mark_of(first.session.id)}0123.1."
    left, other = marked(mark), marked(f"x{mark}")
    assert make_session(resume=LAST).session.id == first.session.id
    assert left.wait(90) < 0, "a signal ended it"
    assert other.poll() is None
    other.kill()
    other.wait()


def marked(mark: str) -> subprocess.Popen[bytes]:
    """A process as a command of a session leaves it behind."""
    return subprocess.Popen(["sleep", "1000"], env={sweep.VARIABLE: mark}, start_new_session=True)


async def test_what_was_shown_is_shown_again(make_session: SceneMaker) -> None:
    first = make_session(READ, {"text": "It says hi."}, files={"a.txt": "hi\n"})
    shown = await first.play("what is it?")
    await first.session.close()
    past = make_session(resume=LAST).session.past
    kinds = (ThinkingDelta, TextDelta, ToolStarted, ToolFinished)

    def worth(events: list[Event]) -> list[Event]:
        return [event for event in events if isinstance(event, kinds)]

    assert worth([*past.events]) == worth(shown)
    assert past.events[1] == PromptAdded(text="what is it?")
    assert past.updated is not None


async def test_steering_is_said_once(make_session: SceneMaker) -> None:
    scene = make_session(READ, {"text": "ok"}, files={"a.txt": "hi\n"})
    async for event in scene.session.run("go"):
        if isinstance(event, ToolStarted):
            scene.session.steer("and quickly")
    history = scene.session.history()
    assert [e.text for e in history.events if isinstance(e, PromptAdded)] == ["go", "and quickly"]


async def test_mode_title_and_usage_are_kept(make_session: SceneMaker) -> None:
    used = {"input_tokens": 70, "output_tokens": 7, "cost": 0.5}
    first = make_session({"text": "1", "usage": used})
    await first.play()
    first.session.set_mode(Mode.PLAN)
    first.session.rename("  A\x1b[31m title\nof two lines  ")
    await first.session.close()
    second = make_session(resume=LAST).session
    assert second.mode is Mode.PLAN
    assert "\x1b" not in second.title
    assert second.title.startswith("A")
    assert second.usage.cost == 0.5
    assert second.context_tokens == 70


@pytest.mark.parametrize(
    ("left_in", "attended", "mode"),
    [
        (Mode.ACCEPT_EDITS, True, Mode.DEFAULT),
        (Mode.ACCEPT_EDITS, False, Mode.DEFAULT),
        (Mode.YOLO, True, Mode.DEFAULT),
        (Mode.PLAN, False, Mode.PLAN),
    ],
)
async def test_a_loose_mode_is_not_entered_unasked(
    make_session: SceneMaker, left_in: Mode, attended: bool, mode: Mode
) -> None:
    first = make_session({"text": "1"})
    await first.play()
    first.session.set_mode(left_in)
    await first.session.close()
    assert make_session(resume=LAST, attended=attended).session.mode is mode


async def test_a_new_conversation_is_empty_after_resuming_too(make_session: SceneMaker) -> None:
    first = make_session({"text": "1"}, {"text": "2"})
    await first.play("one")
    first.session.forget()
    await first.play("two")
    await first.session.close()
    second = make_session(resume=LAST).session
    assert second.messages == (
        UserMessage(content="two"),
        AssistantMessage(text="2", model="scripted"),
    )


async def test_the_conversation_goes_back_and_forth(make_session: SceneMaker) -> None:
    scene = make_session({"text": "1"}, {"text": "2"}, {"text": "3"})
    await scene.play("one")
    early = scene.session.history().head
    await scene.play("two")
    late = scene.session.history().head
    assert early is not None
    assert late is not None
    scene.session.rewind(early)
    await scene.play("three")
    sent = [
        str(message.content)
        for message in scene.model.requests[-1].messages
        if isinstance(message, UserMessage)
    ]
    assert sent == ["one", "three"]
    scene.session.rewind(late)
    assert [m.text for m in scene.session.messages if isinstance(m, AssistantMessage)] == ["1", "2"]


async def test_what_was_compacted_stays_compacted(make_session: SceneMaker) -> None:
    files = {f"{number}.txt": "hello\n" * 200 for number in range(6)}
    reads = [{"calls": [{"name": "Read", "arguments": {"file_path": name}}]} for name in files]
    overflow = {"error": {"kind": "overflow", "message": "too long"}}
    first = make_session(*reads, overflow, {"text": "In short."}, {"text": "ok"}, files=files)
    assert finish(await first.play()).reason == "done"
    entries = sessions_of(first).read(first.session.id)
    assert any(isinstance(entry.body, Compacted) for entry in entries)
    await first.session.close()
    second = make_session(resume=LAST).session
    assert second.messages == first.session.messages
    assert "In short." in str(second.messages)


async def test_text_that_came_to_nothing_is_kept_as_shown(make_session: SceneMaker) -> None:
    cut = {"text": "half an ans", "error": {"kind": "server", "message": "oops", "retry_after": 0}}
    scene = make_session(cut, {"text": "whole"})
    await scene.play()
    entries = sessions_of(scene).read(scene.session.id)
    assert [e.body.text for e in entries if isinstance(e.body, ReplyAbandoned)] == ["half an ans"]
    events = read_history(entries).events
    assert [e.text for e in events if isinstance(e, TextDelta)] == ["half an ans", "whole"]
    assert len(scene.session.messages) == 2


async def test_an_interrupted_reply_is_kept(make_session: SceneMaker) -> None:
    scene = make_session({"thinking": "hm", "text": "so far", "hang": True})
    async for event in scene.session.run("go"):
        if isinstance(event, TextDelta):
            scene.session.interrupt()
    history = scene.session.history()
    assert history.messages[-1].message == AssistantMessage(
        text="so far", model="scripted", interrupted=True
    )
    assert [e.text for e in history.events if isinstance(e, ThinkingDelta)] == ["hm"]


async def test_a_full_disk_is_told_once_and_nothing_is_lost_when_there_is_room_again(
    make_session: SceneMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = make_session({"text": "1"}, {"text": "2"}, {"text": "3"})
    real = SessionLog.append

    def full(log: SessionLog, entry: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    await scene.play("one")
    monkeypatch.setattr(SessionLog, "append", full)
    events = await scene.play("two")
    assert finish(events).reason == "done"
    (notice,) = of_type(events, Notice)
    assert "No space left" in notice.text
    monkeypatch.setattr(SessionLog, "append", real)
    assert of_type(await scene.play("three"), Notice) == []
    await scene.session.close()
    assert make_session(resume=LAST).session.messages == scene.session.messages


async def test_a_title_is_made_by_the_fast_model(make_session: SceneMaker) -> None:
    scene = make_session(
        {"text": "1"},
        settings={"fast_model": "fast"},
        models={"fast": [{"text": '"Fix the tests."', "usage": {"cost": 0.5}}]},
    )
    await scene.play("please fix the tests")
    assert await scene.session.make_title() == "Fix the tests"
    entries = sessions_of(scene).read(scene.session.id)
    assert [e.body.by for e in entries if isinstance(e.body, Titled)] == ["model"]
    history = read_history(entries)
    assert history.title == "Fix the tests"
    assert history.usage.cost == 0.5 == scene.session.usage.cost


async def test_a_fork_goes_its_own_way(make_session: SceneMaker) -> None:
    first = make_session({"text": "1"}, {"text": "2"})
    await first.play("one")
    fork = make_session({"text": "other"}, resume=Resume(first.session.id, fork=True))
    assert fork.session.id != first.session.id
    await fork.play("another")
    await first.play("two")
    said = [m.content for m in fork.session.messages if isinstance(m, UserMessage)]
    assert said == ["one", "another"]
    assert len(sessions_of(first).index.listing()) == 2


async def test_a_session_goes_on_where_it_was(make_session: SceneMaker, tmp_path: Path) -> None:
    first = make_session({"text": "1"})
    await first.play("about pears")
    await first.session.close()
    make_session.workspace = tmp_path / "elsewhere"
    make_session.workspace.mkdir()
    resumed = make_session(resume=Resume("pears"))
    assert resumed.session.workspace.root == first.session.workspace.root
    await resumed.session.close()
    stayed = make_session(resume=Resume("pears", stay=True))
    assert stayed.session.workspace.root == str(tmp_path / "elsewhere")


@pytest.mark.parametrize(
    "wish",
    [{"tools": ("Nope",)}, {"profile": "nope"}, {"settings": {"model": ""}}],
    ids=["no such tool", "no such profile", "no model"],
)
def test_what_cannot_be_opened_leaves_nothing_behind(
    make_session: SceneMaker, temporary: str, wish: dict[str, Any]
) -> None:
    before = set(Path(temporary).iterdir())
    with pytest.raises(UserError):
        make_session(**wish)
    assert set(Path(temporary).iterdir()) == before
