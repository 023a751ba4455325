"""Reading and changing files in whole turns."""

import asyncio
import os
import threading
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.display import DiffBlock
from agent_cli.core.events import ApprovalAsked, Event, ToolFinished, ToolStarted
from agent_cli.core.inbox import Approval
from agent_cli.lib import files
from tests.kit.sessions import SceneMaker, of_type, results


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def yes(_: ApprovalAsked) -> Approval:
    return Approval(answer="once")


async def test_two_edits_in_one_reply_build_on_each_other(make_session: SceneMaker) -> None:
    scene = make_session(
        {"calls": [call("Read", file_path="a.txt")]},
        {
            "calls": [
                call("Edit", file_path="a.txt", old_string="one", new_string="two"),
                call("Edit", file_path="a.txt", old_string="two", new_string="three"),
            ]
        },
        {"text": "done"},
        files={"a.txt": "one\n"},
    )
    events = await scene.play(answer=yes)
    assert all(event.result.success for event in of_type(events, ToolFinished))
    assert (scene.workspace / "a.txt").read_text() == "three\n"


async def test_the_question_shows_the_change(make_session: SceneMaker) -> None:
    scene = make_session(
        {"calls": [call("Write", file_path="new.txt", content="hello\n")]},
        {"text": "done"},
    )
    events = await scene.play(answer=yes)
    (asked,) = of_type(events, ApprovalAsked)
    assert isinstance(asked.request.preview, DiffBlock)
    assert asked.request.preview.diff.endswith("@@ -0,0 +1 @@\n+hello")
    assert asked.request.title == "new.txt"


async def test_what_cannot_be_done_is_not_asked_about(make_session: SceneMaker) -> None:
    scene = make_session(
        {"calls": [call("Write", file_path="a.txt", content="x")]},
        {"calls": [call("Read", file_path="a.txt")]},
        {"calls": [call("Edit", file_path="a.txt", old_string="zzz", new_string="x")]},
        {"text": "done"},
        files={"a.txt": "precious\n"},
    )
    events = await scene.play(answer=yes)
    assert of_type(events, ApprovalAsked) == []
    assert [event.result.success for event in of_type(events, ToolFinished)] == [False, True, False]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("readFile", {"filePath": "a.txt"}),
        ("read_file", {"path": "a.txt"}),
        ("view", {"path": "a.txt", "start_line": 1}),
        ("cat", {"file": "a.txt"}),
        ("writeFile", {"filePath": "b.txt", "contents": "x"}),
        ("write_to_file", {"path": "b.txt", "content": "x"}),
        ("create_file", {"path": "b.txt", "file_text": "x"}),
        ("editFile", {"filePath": "a.txt", "oldText": "one", "newText": "two"}),
        ("str_replace", {"path": "a.txt", "old_str": "one", "new_str": "two"}),
        ("str_replace_editor", {"command": "str_replace", "path": "a.txt", "old_str": "one",
                                "new_str": "two"}),
        ("search_replace", {"file_path": "a.txt", "search": "one", "replace": "two"}),
        ("MultiEdit", {"file_path": "a.txt", "edits": [{"oldText": "one", "newText": "two"}]}),
    ],
)  # fmt: skip
async def test_other_agents_names_reach_the_tools(
    make_session: SceneMaker, name: str, arguments: dict[str, Any]
) -> None:
    scene = make_session(
        {"calls": [call("Read", file_path="a.txt")]},
        {"calls": [{"id": "it", **call(name, **arguments)}]},
        {"text": "done"},
        files={"a.txt": "one\n"},
    )
    events = await scene.play(answer=yes)
    result = results(events)["it"].result
    assert result.success, result.llm_content


async def test_every_result_of_these_tools_survives_json(make_session: SceneMaker) -> None:
    scene = make_session(
        {"calls": [call("Read", file_path="odd.txt"), call("Read", file_path="a\x1b[2J.txt")]},
        {"calls": [call("Edit", file_path="odd.txt", old_string="hello", new_string="bye")]},
        {"text": "done"},
    )
    odd = "üöäß".encode() + b"\xff\xfe\nhello\n"
    (scene.workspace / "odd.txt").write_bytes(odd)
    (scene.workspace / "a\x1b[2J.txt").write_text("x")
    events = await scene.play(answer=yes)
    for event in events:
        event.model_dump_json()
    assert all(event.result.success for event in of_type(events, ToolFinished))
    assert (scene.workspace / "odd.txt").read_bytes() == odd.replace(b"hello", b"bye")


async def test_the_file_tools_cost_the_prompt_little(make_session: SceneMaker) -> None:
    scene = make_session({"text": "done"})
    await scene.play()
    (request,) = scene.model.requests
    own = [tool for tool in request.tools if tool["function"]["name"] in ("Read", "Write", "Edit")]
    assert len(own) == 3
    assert sum(len(str(tool)) for tool in own) < 3_600  # about 300 tokens each


@pytest.mark.parametrize("tool", ["Write", "Edit"])
async def test_an_interrupted_write_that_has_begun_is_finished_told_and_undone(
    make_session: SceneMaker, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    changes = {
        "Write": call("Write", file_path="a.txt", content="new\n"),
        "Edit": call("Edit", file_path="a.txt", old_string="old", new_string="new"),
    }
    scene = make_session(
        {"calls": [call("Read", file_path="a.txt")]},
        {"calls": [changes[tool]]},
        files={"a.txt": "old\n"},
        settings={"mode": "yolo"},
    )
    begun, fsync = threading.Event(), os.fsync

    def slow(descriptor: int) -> None:
        name = str(Path(f"/proc/self/fd/{descriptor}").readlink())
        if str(scene.workspace) in name:
            begun.set()
            time.sleep(0.3)
        fsync(descriptor)

    monkeypatch.setattr(files.os, "fsync", slow)
    events: list[Event] = []
    async with aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, ToolStarted) and event.tool == tool:
                await asyncio.to_thread(begun.wait, 10)
                scene.session.interrupt()
    result = of_type(events, ToolFinished)[-1].result
    assert result.llm_content == "Interrupted by the user. By then a.txt had been written."
    assert result.summary == "Interrupted after the change was made"
    assert (scene.workspace / "a.txt").read_text() == "new\n"
    await scene.session.undoing.apply(await scene.session.undoing.preview("turn"))
    assert (scene.workspace / "a.txt").read_text() == "old\n"
