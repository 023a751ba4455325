"""`agent acp` as editors use it: the real process, driven by the protocol's own client."""

import asyncio
import base64
import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from acp import RequestError, helpers
from acp.schema import (
    ClientCapabilities,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
)

from tests.kit.editor import PATIENCE, running_editor, text
from tests.kit.pictures import PNG
from tests.kit.program import AGENT, Program, processes_with, wait_until


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


def log_of(program: Program, session: str) -> str:
    (file,) = program.home.rglob(f"{session}.jsonl")
    return file.read_text(encoding="utf-8")


async def test_the_first_story_in_an_editor(program: Program) -> None:
    file = program.workspace / "a.txt"
    file.write_text("one\ntwo\n")
    model = program.script(
        {"thinking": "Let me see.", "text": "Looking.", **call("Read", file_path="a.txt")},
        call("Edit", file_path="a.txt", old_string="two", new_string="three"),
        call("Bash", command="touch made"),
        {"text": "It is done.", "usage": {"input_tokens": 90, "output_tokens": 10}},
    )
    async with running_editor(program, "--model", model, "--trust") as (editor, agent, _):
        opened = await agent.new_session(cwd=str(program.workspace), mcp_servers=[])
        session = opened.session_id
        assert opened.modes.current_mode_id == "default"
        assert {"plan", "accept-edits"} <= {mode.id for mode in opened.modes.available_modes}
        (commands,) = await editor.until(lambda: editor.of(session, "available_commands_update"))
        names = {each.name for each in commands.available_commands}
        assert {"cost", "undo", "compact"} <= names
        assert not {"theme", "quit", "clear"} & names

        turn = asyncio.create_task(agent.prompt(session_id=session, prompt=text("make it three")))
        edit = await editor.question()
        assert file.read_text() == "one\ntwo\n"
        assert list(edit.options) == ["once", "session", "project", "no"]
        assert [option.kind for option in edit.options.values()] == [
            "allow_once", "allow_always", "allow_always", "reject_once",
        ]  # fmt: skip
        assert "Edit(" in edit.options["project"].name
        (diff,) = [each for each in edit.call.content if each.type == "diff"]
        assert (diff.path, diff.old_text, diff.new_text) == (
            str(file), "one\ntwo\n", "one\nthree\n",
        )  # fmt: skip
        edit.choose("once")
        bash = await editor.question(1)
        assert "touch made" in bash.call.title
        bash.choose("no")
        response = await turn

        assert response.stop_reason == "end_turn"
        assert file.read_text() == "one\nthree\n"
        assert not (program.workspace / "made").exists()
        assert editor.text(session, "agent_thought_chunk") == "Let me see."
        assert editor.text(session) == "Looking.It is done."
        read, edited, refused = (editor.call(session, f"call-{n}") for n in (1, 2, 3))
        assert (read[0].kind, read[0].locations[0].path) == ("read", str(file))
        assert (read[-1].status, edited[-1].status) == ("completed", "completed")
        assert any(each.type == "diff" for each in edited[-1].content)
        assert (refused[0].kind, refused[-1].status) == ("execute", "failed")
        assert "The user declined this Bash call." in log_of(program, session)


async def test_a_cancelled_turn_ends_with_all_it_started(program: Program) -> None:
    marker = f"MARKER_{uuid4().hex}=1"
    command = f"echo be''gun; {marker} sleep 1000"
    model = program.script(call("Bash", command=command), {"text": "never"})
    flags = ("--model", model, "--trust", "--permission-mode", "yolo")
    async with running_editor(program, *flags) as (editor, agent, _):
        opened = await agent.new_session(cwd=str(program.workspace), mcp_servers=[])
        session = opened.session_id
        turn = asyncio.create_task(agent.prompt(session_id=session, prompt=text("wait")))
        await editor.until(lambda: "begun" in str(editor.call(session, "call-1")[1:]))
        await asyncio.to_thread(wait_until, lambda: processes_with(marker), PATIENCE)
        await agent.cancel(session_id=session)
        response = await turn
        assert response.stop_reason == "cancelled"
        assert editor.call(session, "call-1")[-1].status == "failed"
        await asyncio.to_thread(wait_until, lambda: not processes_with(marker), PATIENCE)
        assert "never" not in editor.text(session)


async def test_an_earlier_session_is_listed_and_goes_on(program: Program) -> None:
    (program.workspace / "a.txt").write_text("hello\n")
    model = program.script(call("Read", file_path="a.txt"), {"text": "It says hello."})
    flags = ("--model", model, "--trust")
    done = program.run("-p", "what is in it?", *flags, "--output-format", "json")
    session = done.events[0]["session_id"]
    async with running_editor(program, *flags) as (editor, agent, _):
        listed = await agent.list_sessions(cwd=str(program.workspace))
        assert [each.session_id for each in listed.sessions] == [session]
        assert listed.sessions[0].title == "what is in it?"
        with pytest.raises(RequestError, match=r"There is no session"):
            await agent.load_session(cwd=str(program.workspace), session_id="hello", mcp_servers=[])
        loaded = await agent.load_session(
            cwd=str(program.workspace), session_id=session, mcp_servers=[]
        )
        assert loaded.modes.current_mode_id == "default"
        assert editor.text(session, "user_message_chunk") == "what is in it?"
        assert editor.text(session) == "It says hello."
        assert editor.call(session, "call-1")[-1].status == "completed"
        response = await agent.prompt(session_id=session, prompt=text("again"))
        assert response.stop_reason == "end_turn"
    assert "again" in log_of(program, session)


async def test_two_sessions_go_on_side_by_side(program: Program) -> None:
    other = program.home / "other"
    other.mkdir()
    model = program.script(call("Bash", command="touch made"), {"text": "Done."})
    async with running_editor(program, "--model", model, "--trust") as (editor, agent, _):
        first, second = [
            (await agent.new_session(cwd=str(folder), mcp_servers=[])).session_id
            for folder in (program.workspace, other)
        ]
        one = asyncio.create_task(agent.prompt(session_id=first, prompt=text("go")))
        asked = await editor.question()
        with pytest.raises(RequestError, match="still working"):
            await agent.prompt(session_id=first, prompt=text("and this"))
        two = asyncio.create_task(agent.prompt(session_id=second, prompt=text("go")))
        (await editor.question(1)).choose("once")
        assert (await two).stop_reason == "end_turn"
        assert (other / "made").exists()
        assert not (program.workspace / "made").exists()
        asked.choose("once")
        assert (await one).stop_reason == "end_turn"
        assert (program.workspace / "made").exists()
        assert editor.text(first) == editor.text(second) == "Done."


async def test_files_pictures_and_forms(program: Program) -> None:
    questions = [
        {"question": "Which ones?", "options": [{"label": "a"}, {"label": "b"}], "multiple": True},
        {"question": "Where?", "options": [{"label": "here"}, {"label": "there"}]},
        {"question": "Why?"},
    ]
    model = program.script(call("AskUser", questions=questions), {"text": "ok"})
    forms = ClientCapabilities(
        elicitation=ElicitationCapabilities(form=ElicitationFormCapabilities())
    )
    flags = ("--model", model, "--trust")
    async with running_editor(program, *flags, capabilities=forms) as (editor, agent, _):
        editor.filled = {"choice0": ["0", "1", "7"], "choice1": "1", "words2": "because"}
        opened = await agent.new_session(cwd=str(program.workspace), mcp_servers=[])
        session = opened.session_id
        uri = f"file://{program.workspace}/src/my%20file.py"
        picture = base64.b64encode(PNG).decode()
        await agent.prompt(
            session_id=session,
            prompt=[
                *text("compare "),
                helpers.resource_link_block("my file.py", uri),
                *text(" with this:"),
                helpers.resource_block(helpers.embedded_text_resource(f"{uri}#L1:2", "```x```")),
                helpers.image_block(picture, "image/jpeg"),
            ],
        )
        with pytest.raises(RequestError, match="not a PNG"):
            await agent.prompt(
                session_id=session, prompt=[helpers.image_block("AAAA", "image/png")]
            )
        (asked,) = editor.forms
        assert set(asked.requested_schema.properties) == {
            "choice0", "words0", "choice1", "words1", "words2",
        }  # fmt: skip
    held = log_of(program, session)
    for answer in (
        "Which ones?\\nAnswer: a, b",
        "Where?\\nAnswer: there",
        "Why?\\nAnswer: because",
    ):
        assert answer in held
    assert 'compare @\\"src/my file.py\\" with this:' in held
    assert "src/my file.py#L1:2:\\n````\\n```x```\\n````" in held
    assert '"media_type":"image/png"' in held.replace(" ", "")


async def test_questions_plans_and_commands_are_answered_in_the_editor(program: Program) -> None:
    file = program.workspace / "new.txt"
    options = [{"label": "red"}, {"label": "blue"}]
    model = program.script(
        call("AskUser", questions=[{"question": "Which colour?", "options": options}]),
        call("ExitPlanMode", plan="# Paint it\n\nblue"),
        call("Write", file_path="new.txt", content="blue\n"),
        call("TodoWrite", todos=[{"content": "paint", "status": "completed"}]),
        {"text": "Painted.", "usage": {"input_tokens": 5, "cost": 0.25}},
    )
    flags = ("--model", model, "--trust", "--permission-mode", "plan")
    async with running_editor(program, *flags) as (editor, agent, _):
        opened = await agent.new_session(cwd=str(program.workspace), mcp_servers=[])
        session = opened.session_id
        assert opened.modes.current_mode_id == "plan"
        turn = asyncio.create_task(agent.prompt(session_id=session, prompt=text("paint")))
        colour = await editor.question()
        assert [each.name for each in colour.options.values()] == ["red", "blue", "No answer"]
        colour.choose("1")
        plan = await editor.question(1)
        assert list(plan.options) == ["default", "accept-edits", "keep"]
        assert "Paint it" in plan.call.content[0].content.text
        plan.choose("accept-edits")
        assert (await turn).stop_reason == "end_turn"
        assert "Answer: blue" in log_of(program, session)
        assert file.read_text() == "blue\n"
        (mode,) = editor.of(session, "current_mode_update")
        assert mode.current_mode_id == "accept-edits"
        (todo,) = editor.of(session, "plan")
        assert [(each.content, each.status) for each in todo.entries] == [("paint", "completed")]

        await agent.prompt(session_id=session, prompt=text("/cost"))
        assert "**$0.2500** so far" in editor.text(session)
        undo = asyncio.create_task(agent.prompt(session_id=session, prompt=text("/undo")))
        taking_back = await editor.question(2)
        assert "new.txt" in taking_back.call.content[0].content.text
        taking_back.choose("yes")
        assert (await undo).stop_reason == "end_turn"
        assert not file.exists()
        await agent.prompt(session_id=session, prompt=text("/mode plan"))
        assert editor.of(session, "current_mode_update")[-1].current_mode_id == "plan"
        await agent.set_session_mode(session_id=session, mode_id="default")
        with pytest.raises(RequestError, match="not a mode"):
            await agent.set_session_mode(session_id=session, mode_id="yolo")


async def test_a_prompt_cannot_choose_a_mode_that_the_editor_cannot(program: Program) -> None:
    async with running_editor(program, "--model", program.script()) as (editor, agent, _):
        opened = await agent.new_session(cwd=str(program.workspace), mcp_servers=[])
        session = opened.session_id
        await agent.prompt(session_id=session, prompt=text("/mode yolo"))
        assert "yolo is not a mode you can choose here." in editor.text(session)
        assert not editor.of(session, "current_mode_update")


async def test_a_cancelled_command_does_nothing(program: Program) -> None:
    model = program.script(call("Write", file_path="new.txt", content="x\n"), {"text": "ok"})
    flags = ("--model", model, "--trust", "--permission-mode", "accept-edits")
    async with running_editor(program, *flags) as (editor, agent, _):
        opened = await agent.new_session(cwd=str(program.workspace), mcp_servers=[])
        session = opened.session_id
        await agent.prompt(session_id=session, prompt=text("write it"))
        for how in ("the dialogue", "the turn"):
            number = len(editor.asked)
            undo = asyncio.create_task(agent.prompt(session_id=session, prompt=text("/undo")))
            asked = await editor.question(number)
            if how == "the dialogue":
                asked.choose(None)
            else:
                await agent.cancel(session_id=session)
            assert (await undo).stop_reason == "cancelled"
        assert (program.workspace / "new.txt").exists()


async def test_a_folder_that_is_not_trusted_is_only_looked_at(program: Program) -> None:
    (program.workspace / "a.txt").write_text("hello\n")
    model = program.script(
        call("Read", file_path="a.txt"),
        call("Write", file_path="b.txt", content="x"),
        {"text": "."},
    )
    async with running_editor(program, "--model", model) as (editor, agent, _):
        opened = await agent.new_session(cwd=str(program.workspace), mcp_servers=[])
        session = opened.session_id
        await agent.prompt(session_id=session, prompt=text("go"))
        assert "is not trusted" in editor.text(session)
        assert "agent trust" in editor.text(session)
        assert editor.call(session, "call-1")[-1].status == "completed"
        assert editor.call(session, "call-2")[-1].status == "failed"
        assert not editor.asked
        assert not (program.workspace / "b.txt").exists()


async def test_a_failed_turn_says_why_and_a_cancelled_question_ends_one(program: Program) -> None:
    failing = {"error": {"kind": "not_found", "message": "no such model"}}
    model = program.script(
        failing, {"text": "!"}, call("Bash", command="touch made"), {"text": "never"}
    )
    async with running_editor(program, "--model", model, "--trust") as (editor, agent, _):
        opened = await agent.new_session(cwd=str(program.workspace), mcp_servers=[])
        session = opened.session_id
        with pytest.raises(RequestError, match="no such model"):
            await agent.prompt(session_id=session, prompt=text("go"))
        await agent.prompt(session_id=session, prompt=text("/retry"))
        assert editor.text(session) == "!"
        turn = asyncio.create_task(agent.prompt(session_id=session, prompt=text("touch it")))
        (await editor.question()).choose(None)
        assert (await turn).stop_reason == "cancelled"
        assert not (program.workspace / "made").exists()


@contextmanager
def started(program: Program, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """The process by itself, for what no client would send; it cannot outlive our patience."""
    process = program.start("acp", *arguments, stdin=subprocess.PIPE)
    end = threading.Timer(PATIENCE, process.kill)
    end.start()
    try:
        yield process
    finally:
        end.cancel()
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


def send(process: "subprocess.Popen[str]", *lines: str) -> None:
    assert process.stdin is not None
    process.stdin.write("".join(f"{line}\n" for line in lines))
    process.stdin.flush()


def request(number: int, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def message(process: "subprocess.Popen[str]") -> dict[str, Any]:
    assert process.stdout is not None
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


def test_garbage_is_answered_and_survived(program: Program) -> None:
    garbage = ["not json", "[]", "42", '{"id": {}, "result": 1}', '{"method": 7}', "[" * 100_000]
    garbage += ["\x00\x01", '{"jsonrpc":"2.0"}']
    with started(program, "--model", program.script()) as process:
        send(process, *garbage, "")
        send(process, request(1, "session/new", cwd=7), request(2, "no/such"))
        send(process, request(3, "initialize", protocolVersion=1))
        answers = [message(process) for _ in range(len(garbage) + 3)]
        codes = [answer["error"]["code"] for answer in answers[: len(garbage)]]
        assert set(codes) == {-32700, -32600}
        by_id = {answer["id"]: answer for answer in answers[len(garbage) :]}
        assert by_id[1]["error"]["code"] == -32602
        assert by_id[2]["error"]["code"] == -32601
        assert by_id[3]["result"]["agentCapabilities"]["loadSession"] is True
        assert process.stdin is not None and process.stdout is not None
        process.stdin.close()
        assert process.stdout.read() == "", "standard output is the protocol's alone"
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("how", ["closes", "listens_no_more", "SIGTERM"])
def test_an_editor_that_vanishes_leaves_nothing_behind(program: Program, how: str) -> None:
    marker = f"MARKER_{uuid4().hex}=1"
    model = program.script(call("Bash", command=f"{marker} sleep 1000"))
    flags = ("--model", model, "--trust", "--permission-mode", "yolo")
    with started(program, *flags) as process:
        send(process, request(1, "initialize", protocolVersion=1))
        send(process, request(2, "session/new", cwd=str(program.workspace), mcpServers=[]))
        message(process)
        session = message(process)["result"]["sessionId"]
        prompt = [{"type": "text", "text": "go"}]
        send(process, request(3, "session/prompt", sessionId=session, prompt=prompt))
        wait_until(lambda: processes_with(marker), PATIENCE)
        assert process.stdin is not None and process.stdout is not None
        if how == "SIGTERM":
            process.send_signal(signal.SIGTERM)
        else:
            process.stdout.close()
        if how == "closes":
            process.stdin.close()
        assert process.wait(PATIENCE) == (128 + signal.SIGTERM if how == "SIGTERM" else 0)
        wait_until(lambda: not processes_with(marker), PATIENCE)


def test_without_pipes_it_says_what_it_is_for(program: Program, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    with empty.open() as source:
        done = subprocess.run(
            [AGENT, "acp"],
            stdin=source,
            env=program.environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 2
    assert "editor" in done.stderr
    assert done.stdout == ""
