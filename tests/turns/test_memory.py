"""Pins, what can be called back, and compaction by hand."""

from contextlib import aclosing
from typing import Any

from agent_cli.core.events import Event, HistoryCompacted, Notice, QuestionAsked
from agent_cli.core.inbox import Answers
from agent_cli.core.messages import ToolMessage, UserMessage, text_of
from agent_cli.launch_options import Resume
from tests.kit.sessions import Scene, SceneMaker, assert_valid, finish, of_type

FORGETS = {"text": "I remember nothing."}
SECRET_WORD = "xylophone"


def read(name: str) -> dict[str, Any]:
    return {"calls": [{"name": "Read", "arguments": {"file_path": name}}]}


def sent(scene: Scene, request: int = -1) -> str:
    messages = scene.model.requests[request].messages
    return "\n".join(text_of(m.content) for m in messages if isinstance(m, UserMessage))


async def compact(scene: Scene, answer: str, focus: str = "") -> list[Event]:
    """Compact by hand, answering what is asked."""
    events: list[Event] = []
    async with aclosing(scene.session.compact(focus)) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, QuestionAsked):
                scene.session.reply(event.request.id, Answers(answers=(answer,)))
    return events


async def talked(make_session: SceneMaker, *more: Any, **how: Any) -> Scene:
    """A session that has read a file and said something about it."""
    scene = make_session(
        read("old"), {"text": "It is about music."}, *more,
        files={"old": f"{SECRET_WORD} {{0}}\n" * 100}, models={"fast": [FORGETS] * 3},
        settings={"fast_model": "fast"}, **how,
    )  # fmt: skip
    await scene.play("What is in old?")
    return scene


async def test_the_ledger_is_shown_before_anything_is_changed(make_session: SceneMaker) -> None:
    scene = await talked(make_session)
    before = scene.session.messages
    events = await compact(scene, "Cancel")
    (asked,) = of_type(events, QuestionAsked)
    assert asked.request.by == "program"
    text = asked.request.questions[0].text
    assert "1 message of yours, verbatim" in text
    assert "1 Read result" in text
    assert "I remember nothing." in text
    assert not of_type(events, HistoryCompacted)
    assert scene.session.messages == before


async def test_no_answer_changes_nothing(make_session: SceneMaker) -> None:
    scene = await talked(make_session)
    before = scene.session.messages
    await compact(scene, "")
    assert scene.session.messages == before


async def test_compaction_by_hand_can_be_undone(make_session: SceneMaker) -> None:
    scene = await talked(make_session, {"text": "later"}, {"text": "again"})
    before = scene.session.messages
    await compact(scene, "Apply", focus="the music")
    assert "the music" in str(scene.session._parts.models.get("fast").requests[0].messages)  # type: ignore[attr-defined]
    assert not any(isinstance(m, ToolMessage) for m in scene.session.messages)
    assert_valid(scene.session.messages)
    await scene.play("Go on.")
    assert scene.session.memory.undo_compaction()
    after = scene.session.messages
    assert after[: len(before)] == before
    assert [text_of(m.content) for m in after if isinstance(m, UserMessage)][-1] == "Go on."
    assert not scene.session.memory.undo_compaction()


async def test_with_nothing_to_compact_nobody_is_asked(make_session: SceneMaker) -> None:
    events = await compact(make_session(), "Apply")
    assert not of_type(events, QuestionAsked)
    assert "Nothing to compact" in of_type(events, Notice)[0].text
    assert finish(events).reason == "done"


async def test_pins_are_sent_word_for_word_ever_after(make_session: SceneMaker) -> None:
    scene = await talked(make_session, *[{"text": "ok"}] * 3)
    pinned = "Never\n  rename {anything}. \u4e0d\u8981\u6539"
    scene.session.memory.pin(pinned)
    assert scene.session.memory.pin_last_reply() is not None
    await compact(scene, "Apply")
    await compact(scene, "Apply")
    await scene.play("Go on.")
    assert pinned in sent(scene)
    assert "It is about music." in sent(scene)
    assert scene.session.memory.unpin(1) is not None
    assert scene.session.memory.unpin(2) is None
    await scene.play("One more.")
    await compact(scene, "Apply")
    await scene.play("And now?")
    assert pinned not in sent(scene)


async def test_what_was_dropped_can_be_called_back(make_session: SceneMaker) -> None:
    scene = await talked(make_session, {"text": "ok"})
    (scene.workspace / "old").unlink()  # so that it is not read again
    await compact(scene, "Apply")
    assert not any(SECRET_WORD in str(message) for message in scene.session.messages)
    assert scene.session.memory.recall("no such words") == []
    (found,) = scene.session.memory.recall(f"{SECRET_WORD.upper()} {{0}}")
    assert found.title == "result of Read"
    await scene.play("What was it?")
    assert SECRET_WORD in sent(scene)


async def test_a_pinned_result_is_not_thinned(make_session: SceneMaker) -> None:
    from agent_cli.core.compaction.shortening import thin

    scene = make_session(
        *[read(f"f{n}") for n in range(6)], {"text": "ok"},
        files={f"f{n}": f"only in {n}\n" * 99 for n in range(6)},
    )  # fmt: skip
    await scene.play()
    kept = thin(scene.session.messages, ["only in 0"]).messages
    assert "only in 0" in str(kept)
    assert "only in 1" not in str(kept)


async def test_a_new_conversation_has_no_pins(make_session: SceneMaker) -> None:
    scene = make_session({"text": "ok"})
    scene.session.memory.pin("always")
    scene.session.forget()
    assert scene.session.memory.pins == ()
    await scene.play("hello")
    assert "always" not in sent(scene)


async def test_files_with_secret_names_and_links_out_are_not_read_again(
    make_session: SceneMaker, tmp_path: Any
) -> None:
    outside = tmp_path / "outside"
    outside.write_text("not yours\n" * 50)
    scene = make_session(
        read(".env"), read("plain"), {"text": "ok"}, {"text": "ok"},
        files={".env": "TOKEN_NAME=abc\n" * 50, "plain": "plain\n" * 50},
        models={"fast": [FORGETS]}, settings={"fast_model": "fast", "mode": "yolo"},
    )  # fmt: skip
    await scene.play()
    (scene.workspace / "plain").unlink()
    (scene.workspace / "plain").symlink_to(outside)
    await compact(scene, "Apply")
    await scene.play()
    assert "TOKEN_NAME" not in sent(scene)
    assert "not yours" not in sent(scene)


async def test_a_resumed_session_remembers_pins_and_what_was_dropped_and_can_undo(
    make_session: SceneMaker,
) -> None:
    scene = await talked(make_session, {"text": "later"})
    scene.session.memory.pin("Keep it green.")
    (scene.workspace / "old").unlink()
    before = scene.session.messages
    await compact(scene, "Apply")
    await scene.play("Go on.")
    await scene.session.close()
    again = make_session({"text": "here"}, models={"fast": []}, resume=Resume())
    memory = again.session.memory
    assert again.session.messages == scene.session.messages
    assert [pin.text for pin in memory.pins] == ["Keep it green."]
    assert [found.title for found in memory.search(SECRET_WORD)] == ["result of Read"]
    assert again.session.spending.models["scripted"].requests == 3
    assert memory.undo_compaction()
    assert again.session.messages[: len(before)] == before
    assert [pin.text for pin in memory.pins] == ["Keep it green."]
    await again.session.close()
    third = make_session(resume=Resume(), models={"fast": []})
    assert third.session.messages == again.session.messages
