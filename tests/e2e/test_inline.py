"""The inline prompt as a person meets it: the real program, in a real terminal."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from tests.kit.model_server import Call, Reply, running_server
from tests.kit.program import Program
from tests.kit.terminal import AGENT, Terminal

READY = "Ask, or / for commands"
ANSWERABLE = "enter answers"
BY_NUMBER = "Answer with a number"
A_MOMENTS_LOOK = 0.6
"""Longer than a question must have been in view before a line can answer it."""

Opener = Callable[..., Terminal]


def bash(command: str) -> dict[str, Any]:
    return {"name": "Bash", "arguments": {"command": command}}


@pytest.fixture
def agent(program: Program) -> Iterator[Opener]:
    """Opens the program inline, in a trusted folder, and waits for its prompt."""
    with ExitStack() as stack:

        def start(
            *steps: Mapping[str, Any],
            flags: tuple[str, ...] = ("--inline", "--trust"),
            model: str | None = None,
            size: tuple[int, int] = (100, 40),
            env: Mapping[str, str] | None = None,
            wait: str = READY,
        ) -> Terminal:
            argv = [*AGENT, "--model", model or program.script(*steps), *flags]
            terminal = Terminal(
                argv, cwd=program.workspace, env=program.environment(env), size=size
            )
            stack.enter_context(terminal)
            terminal.wait_for(wait)
            return terminal

        yield start


def answer(terminal: Terminal, heading: str, key: str) -> str:
    """Look at a question until it can be answered, then press a key; what was to be seen."""
    shown = terminal.wait_for(heading, ANSWERABLE)
    terminal.send(key)
    return shown


def answer_by_number(terminal: Terminal, heading: str, number: str, asked: int) -> str:
    """Read the `asked`-th question of a plain terminal, then type the number of an answer."""
    shown = terminal.wait_until(lambda text: heading in text and text.count(BY_NUMBER) >= asked)
    terminal.let_pass(A_MOMENTS_LOOK)
    terminal.send(f"{number}\n")
    return shown


def ask(terminal: Terminal, text: str) -> None:
    """Write a message and send it."""
    terminal.send(text)
    terminal.wait_for(text)
    terminal.press("enter")


def first_story(program: Program) -> tuple[Reply, ...]:
    (program.workspace / "greet.py").write_text('print("helo")\n')
    change = {"file_path": "greet.py", "old_string": "helo", "new_string": "hello"}
    return (
        Reply("I'll look **first**.", calls=[Call("Read", {"file_path": "greet.py"})]),
        Reply(calls=[Call("Edit", change)]),
        Reply(calls=[Call("Bash", {"command": "rm -rf build && python3 greet.py"})]),
        Reply("The greeting is right now."),
    )


# ── the first story ───────────────────────────────────────────────────────────────────────────────


def test_the_first_story(program: Program, agent: Opener) -> None:
    with running_server(*first_story(program)) as server:
        terminal = agent(
            model="openai/gpt-4o",
            flags=("--inline", "--api-base", f"{server.url}/v1"),
            env={"OPENAI_API_KEY": "not-a-key"},
            wait="Do you trust this folder?",
        )
        answer(terminal, "Do you trust this folder?", "y")
        terminal.wait_gone("Do you trust this folder?")
        ask(terminal, "put the greeting right")
        shown = answer(terminal, "Make this change?", "y")
        assert '-print("helo")' in shown
        assert '+print("hello")' in shown
        shown = answer(terminal, "Run this command?", "b")
        assert "rm -rf build" in shown
        assert "Asked because" in shown
        terminal.wait_for("Why not")
        terminal.send("leave build alone")
        terminal.wait_for("leave build alone")
        terminal.press("enter")
        shown = terminal.wait_for("The greeting is right now.")
        told = json.dumps(server.requests[-1].body)
    assert (program.workspace / "greet.py").read_text() == 'print("hello")\n'
    assert "leave build alone" in told
    for line in ("put the greeting right", "I'll look first.", "✅ Read", "✅ Edit", "❌ Bash"):
        assert line in shown
    assert shown.index("✅ Read") < shown.index("✅ Edit") < shown.index("❌ Bash")
    assert "?1049" not in terminal.modes_left_on, "it stays in the scrollback"
    terminal.press("ctrl+d")
    assert terminal.wait_end() == 0
    assert not terminal.modes_left_on - {"?7", "?25"}
    assert terminal.shows_cursor


@pytest.mark.parametrize(
    ("flags", "env", "signs"),
    [
        ((), {"TERM": "dumb"}, ("ok Read", "ok Edit", "!! Bash")),
        (("--screen-reader",), {}, ("Done: Read", "Done: Edit", "Failed: Bash")),
    ],
    ids=["dumb", "screen-reader"],
)
def test_the_first_story_in_plain_lines(
    program: Program,
    agent: Opener,
    flags: tuple[str, ...],
    env: dict[str, str],
    signs: tuple[str, ...],
) -> None:
    with running_server(*first_story(program)) as server:
        terminal = agent(
            model="openai/gpt-4o",
            flags=(*flags, "--api-base", f"{server.url}/v1"),
            env={"OPENAI_API_KEY": "not-a-key", **env},
            wait=BY_NUMBER,
            size=(100, 80),
        )
        answer_by_number(terminal, "Do you trust this folder?", "2", 1)
        terminal.wait_for("/help")
        terminal.send("put the greeting right\n")
        shown = answer_by_number(terminal, "Make this change?", "3", 2)
        assert '+print("hello")' in shown
        shown = answer_by_number(terminal, "Run this command?", "2", 3)
        assert "rm -rf build" in shown
        terminal.wait_for("Why not")
        terminal.let_pass(A_MOMENTS_LOOK)
        terminal.send("leave build alone\n")
        shown = terminal.wait_for("The greeting is right now.")
        assert "leave build alone" in json.dumps(server.requests[-1].body)
    assert (program.workspace / "greet.py").read_text() == 'print("hello")\n'
    for sign in signs:
        assert sign in shown
    terminal.press("ctrl+d")
    assert terminal.wait_end() == 0
    sent = bytes(terminal.raw).replace(b"\x1b[?2004h", b"").replace(b"\x1b[?2004l", b"")
    assert b"\x1b" not in sent, "nothing but text, and the marks of pastes"
    assert terminal.modes_left_on <= {"?7", "?25"}
