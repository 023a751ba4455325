"""Sessions as a person meets them: left, resumed, copied, picked, open twice."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.kit.model_server import Call, Reply, running_server
from tests.kit.program import Program, wait_until
from tests.kit.terminal import AGENT, Terminal

READY = "Ask, or / for commands"
ANSWERABLE = "enter confirm"
A_MOMENTS_LOOK = 0.6
"""Longer than a modal must have been in view before a key can answer it."""

Opener = Callable[..., Terminal]


@pytest.fixture
def agent(program: Program) -> Iterator[Opener]:
    """Opens the program in a trusted folder and waits for something on its screen."""
    with ExitStack() as stack:

        def start(*flags: str, model: str, wait: str = READY) -> Terminal:
            terminal = Terminal(
                (*AGENT, "--trust", "--model", model, *flags),
                cwd=program.workspace,
                env=program.environment(),
            )
            stack.enter_context(terminal)
            terminal.wait_for(wait)
            return terminal

        yield start


def logs(program: Program) -> list[Path]:
    return sorted((program.home / ".local/state/agent/sessions").glob("*.jsonl"))


def leave(terminal: Terminal) -> None:
    terminal.press("ctrl+q")
    assert terminal.wait_end() == 0


def test_what_was_said_is_there_again(program: Program, agent: Opener) -> None:
    (program.workspace / "a.txt").write_text("hello\n")
    read = {
        "text": "Let me look.",
        "calls": [{"name": "Read", "arguments": {"file_path": "a.txt"}}],
    }
    first = agent(model=program.script(read, {"text": "It says **hello**."}))
    first.send("what does it say?\r")
    first.wait_for("It says hello.")
    leave(first)
    (log,) = logs(program)
    assert f"Resume with agent -r {log.stem}" in first.text()

    again = agent("-c", model=program.script({"text": "Indeed."}), wait="Resumed")
    again.wait_for(
        "what does it say?", "Let me look.", "Read", "a.txt", "It says hello.", "just now"
    )
    again.send("sure?\r")
    again.wait_for("Indeed.")
    leave(again)
    assert logs(program) == [log]


def test_a_session_that_was_only_looked_at_leaves_nothing(program: Program, agent: Opener) -> None:
    terminal = agent(model=program.script(), wait="default ⇧⇥")
    terminal.press("shift+tab")
    terminal.wait_for("accept-edits")
    leave(terminal)
    assert logs(program) == []
    assert "Resume with" not in terminal.text()


def test_the_second_program_is_told_and_offered_a_copy(program: Program, agent: Opener) -> None:
    first = agent(model=program.script({"text": "Here I am."}))
    first.send("hello\r")
    first.wait_for("Here I am.")
    (log,) = logs(program)
    owner = log.with_suffix(".owner").read_text().strip()

    done = program.run("-c", "-p", "me too", "--model", program.script({"text": "no"}))
    assert done.code == 2
    assert f"is open in process {owner}" in done.err
    assert f"agent -r {log.stem} --fork" in done.err

    second = agent("-c", model=program.script({"text": "I am the copy."}), wait=f"process {owner}")
    second.wait_for("Fork it", ANSWERABLE)
    second.let_pass(A_MOMENTS_LOOK)
    second.send("y")
    second.wait_for("Here I am.", "Resumed")
    second.send("and you?\r")
    second.wait_for("I am the copy.")
    assert len(logs(program)) == 2
    leave(second)
    first.send("still there?\r")
    first.wait_for("still there?", "The script is over")
    leave(first)


def test_sessions_are_searched_and_picked(program: Program, agent: Opener) -> None:
    for prompt, answer in (("about apples", "Red ones."), ("about pears", "Green ones.")):
        done = program.run("-p", prompt, "--model", program.script({"text": answer}))
        assert done.code == 0, done.err
    terminal = agent("-r", model=program.script({"text": "And juicy."}), wait="Sessions")
    terminal.wait_for("about apples", "about pears")
    terminal.send("appl")
    terminal.wait_gone("about pears")
    terminal.wait_for("Red ones.")
    terminal.press("enter")
    terminal.wait_for("Resumed", "about apples", "Red ones.")
    terminal.send("go on\r")
    terminal.wait_for("And juicy.")
    terminal.send("/rename Fruit of all kinds\r")
    terminal.wait_for("Fruit of all kinds")
    terminal.send("/export fruit.html\r")
    wait_until((program.workspace / "fruit.html").exists)
    assert "<h1>Fruit of all kinds</h1>" in (program.workspace / "fruit.html").read_text()
    terminal.send("/fork\r")
    terminal.wait_for("Resumed · Fruit of all kinds")
    leave(terminal)
    wait_until(lambda: len(logs(program)) == 3)
    listed = program.run("sessions", "list", "--json").events
    assert [each["title"] for each in listed].count("Fruit of all kinds") == 2


def test_a_session_that_cannot_be_opened_leads_back(program: Program, agent: Opener) -> None:
    elsewhere = program.home / "elsewhere"
    elsewhere.mkdir()
    done = program.run("-p", "about apples", "--cwd", str(elsewhere), "--model", program.script())
    assert done.code == 0, done.err
    terminal = agent(model=program.script({"text": "Here."}))
    terminal.send("about pears\r")
    terminal.wait_for("Here.")
    elsewhere.rmdir()
    terminal.send("/sessions apples\r")
    terminal.wait_for("No sessions in this directory")
    terminal.press("tab")
    terminal.wait_for("about apples")
    terminal.press("enter")
    terminal.wait_for("about pears", "no longer exists")
    leave(terminal)


def test_a_crash_of_the_program_loses_nothing_that_was_shown(
    program: Program, agent: Opener
) -> None:
    terminal = agent(model=program.script({"text": "This much came", "hang": True}))
    terminal.send("go\r")
    terminal.wait_for("This much came")
    (log,) = logs(program)
    os.kill(int(log.with_suffix(".owner").read_text()), signal.SIGKILL)
    terminal.wait_end()
    again = agent("-c", model=program.script({"text": "on"}), wait="Resumed")
    again.wait_for("go", "This much came")
    leave(again)


def test_the_provider_is_sent_the_same_messages_after_resuming(program: Program) -> None:
    flags = ("--model", "openai/gpt-4o", "--output-format", "json")
    read = Call("Read", {"file_path": "a.txt"}, id="call_1")
    (program.workspace / "a.txt").write_text("hello\n")
    with running_server(Reply("Look.", calls=[read]), Reply("It is."), Reply("Yes.")) as server:
        base = ("--api-base", f"{server.url}/v1", *flags)
        for prompt in (("-p", "one"), ("-c", "-p", "two")):
            done = program.run(*prompt, *base)
            assert done.code == 0, done.err
        _, second, third = (request.body["messages"] for request in server.requests)
    assert third[: len(second)] == second
    said = [(message["role"], message["content"]) for message in third[len(second) :]]
    assert said == [("assistant", "It is."), ("user", "two")]


def test_resuming_sends_the_same_messages(program: Program) -> None:
    first = program.run("-p", "one", "--model", program.script({"text": "1"}))
    assert first.out == "1\n"
    done = program.run(
        "-c", "-p", "two", "--model", program.script({"text": "2"}), "--output-format", "json"
    )
    (result,) = done.events
    (log,) = logs(program)
    assert result["session_id"] == log.stem
    shown = program.run("sessions", "show", log.stem[:6], "--json")
    messages = json.loads(shown.out)["messages"]
    said = [message.get("content") or message.get("text") for message in messages]
    assert said == ["one", "1", "two", "2"]
    assert program.run("sessions", "delete", "").code == 2
    assert logs(program) == [log]
    assert program.run("sessions", "delete", log.stem[:6], log.stem).code == 0
    assert logs(program) == []
    missing = program.run("-c", "-p", "three", "--model", program.script())
    assert missing.code == 2
    assert "no session" in missing.err


@pytest.mark.parametrize("flags", [("-c", "-p", "hi"), ("sessions", "list")])
def test_a_list_that_cannot_be_made_is_told_in_a_line(
    program: Program, flags: tuple[str, ...]
) -> None:
    (program.home / ".local/state/agent/sessions.sqlite").mkdir(parents=True)
    done = program.run(*flags)
    assert done.code != 0
    assert done.err.startswith("agent: Sessions can't be listed right now: Is a directory")
    assert "Traceback" not in done.err
