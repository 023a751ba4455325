"""Somebody who has read only the README adds a tool, allows a command, changes the model, undoes."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.kit.documents import blocks
from tests.kit.program import ROOT, Program
from tests.kit.terminal import AGENT, Terminal

README = ROOT / "README.md"
READY = "Ask, or / for commands"
ANSWERABLE = "enter confirm"

Opener = Callable[..., Terminal]


def told(words: str) -> str:
    """What the README says is to be typed, or there is nothing to walk."""
    text = README.read_text(encoding="utf-8")
    typed = [*re.findall(r"`([^`\n]+)`", text), *"".join(blocks(README, "sh")).splitlines()]
    assert any(line.partition("  #")[0].strip().endswith(words) for line in typed), words
    return words


def settings_told(setting: str) -> str:
    """The README's example of a setting, to be copied whole."""
    (text,) = [each for each in blocks(README, "toml") if setting in each]
    return text


@pytest.fixture
def agent(program: Program) -> Iterator[Opener]:
    """Opens the program in a terminal, in a trusted folder, and waits for its prompt."""
    with ExitStack() as stack:

        def start(model: str) -> Terminal:
            argv = (*AGENT, "--inline", "--trust", "--model", model)
            env = program.environment()
            terminal = Terminal(argv, cwd=program.workspace, env=env, size=(100, 40))
            stack.enter_context(terminal)
            terminal.wait_for(READY)
            return terminal

        yield start


def say(terminal: Terminal, text: str) -> None:
    terminal.send(text)
    terminal.wait_for(text)
    terminal.press("enter")


def answer(terminal: Terminal, question: str) -> None:
    terminal.wait_for(question, ANSWERABLE)
    terminal.send("y")


def test_a_tool_is_added(program: Program, agent: Opener) -> None:
    call = {"name": "weather", "arguments": {"subject": "Ada"}}
    terminal = agent(program.script({"calls": [call]}, {"text": "It greeted."}))
    made = program.run(*told("agent new tool weather").split()[1:])
    tool = program.home / ".config" / "agent" / "tools" / "weather.py"
    assert tool.is_file(), made.err
    tool.write_text(tool.read_text().replace("Hello, ", "Sunny, "))
    say(terminal, told("/reload"))
    terminal.wait_for("weather")
    say(terminal, "how is the weather?")
    answer(terminal, "Yes, once")
    terminal.wait_for("Sunny, Ada!", "It greeted.")


def test_npm_test_is_allowed(program: Program) -> None:
    npm = program.home / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text('#!/bin/sh\necho "$1: all green" > result.txt\n')
    npm.chmod(0o755)
    path = {"PATH": f"{npm.parent}:/usr/local/bin:/usr/bin:/bin"}
    call = {"calls": [{"name": "Bash", "arguments": {"command": "npm test"}}]}
    go = ("-p", "test it", "--model")

    told("agent check 'npm test'")
    assert program.run(*go, program.script(call, {"text": "no"}), environment=path).code == 4
    assert program.run("check", "npm test", environment=path).code == 10

    config = program.home / ".config" / "agent" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(settings_told("Bash(npm test)"), encoding="utf-8")
    told("agent trust")
    assert program.run("trust", "--yes").code == 0
    assert program.run("check", "npm test", environment=path).code == 0
    assert program.run("check", "npm install", environment=path).code == 10
    done = program.run(*go, program.script(call, {"text": "done"}), environment=path)
    assert done.code == 0, done.err
    assert (program.workspace / "result.txt").read_text() == "test: all green\n"


def test_the_model_is_changed(program: Program, agent: Opener) -> None:
    first = program.script({"text": "I am the first."})
    second = Path(program.script({"text": "I am the second."}).removeprefix("scripted:"))
    second.rename(program.workspace / "second.jsonl")
    terminal = agent(first)
    say(terminal, "who are you?")
    terminal.wait_for("I am the first.", READY)
    told("/model openai/gpt-5")
    say(terminal, "/model scripted:second.jsonl")
    terminal.wait_for("The model is now")
    say(terminal, "and now?")
    terminal.wait_for("I am the second.")

    config = program.home / ".config" / "agent" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(settings_told("model ="), encoding="utf-8")
    shown = program.run(*told("agent config").split()[1:]).out
    assert re.search(r'^model +"anthropic/claude-sonnet-4-5" .*config\.toml$', shown, re.MULTILINE)


def test_a_change_is_undone(program: Program, agent: Opener) -> None:
    note = program.workspace / "note.txt"
    note.write_text("old\n")
    read = {"name": "Read", "arguments": {"file_path": "note.txt"}}
    write = {"name": "Write", "arguments": {"file_path": "note.txt", "content": "new\n"}}
    terminal = agent(program.script({"calls": [read]}, {"calls": [write]}, {"text": "Written."}))
    say(terminal, "write it")
    answer(terminal, "Yes, once")
    terminal.wait_for("Written.")
    terminal.wait_gone("esc interrupts")
    assert note.read_text() == "new\n"
    say(terminal, told("/undo"))
    answer(terminal, "Yes, undo")
    terminal.wait_for("Undid 1 change")
    assert note.read_text() == "old\n"
    say(terminal, told("/redo"))
    answer(terminal, "Yes, redo")
    terminal.wait_for("Redid")
    assert note.read_text() == "new\n"
