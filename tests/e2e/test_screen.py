"""The full-screen app as a person meets it: the real program, in a real terminal."""

import json
import os
import re
import signal
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from tests.kit.model_server import Call, Reply, running_server
from tests.kit.program import Program, processes_with, wait_until
from tests.kit.terminal import AGENT, Terminal

READY = "Ready."
ANSWERABLE = "enter confirm"
A_MOMENTS_LOOK = 0.6
"""Longer than a modal must have been in view before a key can answer it."""

Opener = Callable[..., Terminal]


def bash(command: str) -> dict[str, Any]:
    return {"name": "Bash", "arguments": {"command": command}}


@pytest.fixture
def agent(program: Program) -> Iterator[Opener]:
    """Opens the program in a trusted folder and waits for its prompt."""
    with ExitStack() as stack:

        def start(
            *steps: Mapping[str, Any],
            flags: tuple[str, ...] = ("--trust",),
            model: str | None = None,
            size: tuple[int, int] = (100, 30),
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
    """Look at a modal, then press a key; returns what was to be seen."""
    shown = terminal.wait_for(heading, ANSWERABLE)
    terminal.let_pass(A_MOMENTS_LOOK)
    terminal.send(key)
    return shown


def ask(terminal: Terminal, text: str) -> None:
    """Write a message and send it."""
    terminal.send(text)
    terminal.wait_for(text)
    terminal.press("enter")


def wait_idle(terminal: Terminal) -> str:
    return terminal.wait_gone("esc interrupts")


# ── the first story ───────────────────────────────────────────────────────────────────────────────


def test_the_first_story(program: Program, agent: Opener) -> None:
    (program.workspace / "greet.py").write_text('print("helo")\n')
    change = {"file_path": "greet.py", "old_string": "helo", "new_string": "hello"}
    with running_server(
        Reply("I'll look first.", calls=[Call("Read", {"file_path": "greet.py"})]),
        Reply(calls=[Call("Edit", change)]),
        Reply(calls=[Call("Bash", {"command": "rm -rf build && python3 greet.py"})]),
        Reply("The greeting is right now."),
    ) as server:
        terminal = agent(
            model="openai/gpt-4o",
            flags=("--api-base", f"{server.url}/v1"),
            env={"OPENAI_API_KEY": "not-a-key"},
            wait="Do you trust this folder?",
        )
        answer(terminal, "Do you trust this folder?", "y")
        terminal.wait_for(READY)
        ask(terminal, "put the greeting right")
        shown = answer(terminal, "Make this change?", "y")
        assert "helo" in shown
        assert "hello" in shown
        shown = answer(terminal, "Run this command?", "b")
        assert "rm -rf build" in shown
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


def test_a_folder_that_is_not_trusted_is_asked_about_again(program: Program, agent: Opener) -> None:
    terminal = agent({"text": "hi"}, flags=(), wait="Do you trust this folder?")
    answer(terminal, "Do you trust this folder?", "n")
    terminal.wait_for(READY)
    terminal.close()
    agent({"text": "hi"}, flags=(), wait="Do you trust this folder?")


def test_ctrl_c_at_the_question_of_trust_leaves(agent: Opener) -> None:
    terminal = agent({"text": "hi"}, flags=(), wait="Do you trust this folder?")
    terminal.wait_for(ANSWERABLE)
    terminal.press("ctrl+c")
    assert terminal.wait_end() == 130
    assert not terminal.modes_left_on - {"?7", "?25"}
    assert "Traceback" not in terminal.text()


# ── type-ahead ────────────────────────────────────────────────────────────────────────────────────


def test_what_is_typed_as_a_modal_appears_goes_to_the_prompt(
    program: Program, agent: Opener
) -> None:
    terminal = agent(
        {"text": "word " * 40, "pieces": 40, "delay": 0.02, "calls": [bash("touch made")]},
        {"text": "Finished."},
    )
    ask(terminal, "go")
    terminal.wait_for("word")
    typed = ""
    while "Run this command?" not in terminal.text():
        terminal.send("y")
        typed += "y"
        terminal.let_pass(0.05)
    terminal.send("yyy")
    terminal.wait_for("Your keystrokes went to the prompt", f"{typed}yyy")
    assert not (program.workspace / "made").exists()
    terminal.let_pass(A_MOMENTS_LOOK)
    terminal.send("n")
    terminal.wait_for("Finished.")
    assert not (program.workspace / "made").exists()
    assert f"▌ {typed}yyy" in terminal.text()


def test_what_is_typed_before_the_prompt_is_there_is_not_lost(agent: Opener) -> None:
    terminal = agent({"text": "hi"}, wait="")
    terminal.wait_until(lambda _: "?2004" in terminal.modes_left_on)
    terminal.send("early words")
    terminal.wait_for("▌ early words")


def test_what_is_sent_before_the_prompt_is_there_is_sent(agent: Opener) -> None:
    terminal = agent({"text": "An early answer."}, wait="")
    terminal.send("early\rand mo")
    terminal.wait_for("▌ early", "An early answer.", "▌ and mo")


def test_a_paste_never_answers_a_modal(program: Program, agent: Opener) -> None:
    terminal = agent({"calls": [bash("touch made")]}, {"text": "Finished."})
    ask(terminal, "go")
    terminal.wait_for("Run this command?", ANSWERABLE)
    terminal.let_pass(A_MOMENTS_LOOK)
    terminal.paste("y\r")
    terminal.wait_for("Your keystrokes went to the prompt")
    assert not (program.workspace / "made").exists()
    terminal.let_pass(A_MOMENTS_LOOK)
    terminal.press("escape")
    terminal.wait_for("Finished.")
    assert not (program.workspace / "made").exists()


# ── writing ───────────────────────────────────────────────────────────────────────────────────────


def test_a_long_paste_becomes_a_chip_and_is_sent_whole(agent: Opener) -> None:
    lines = [f"line {number} of the log" for number in range(2000)]
    with running_server(Reply("Read it all.")) as server:
        terminal = agent(
            model="openai/gpt-4o",
            flags=("--trust", "--api-base", f"{server.url}/v1"),
            env={"OPENAI_API_KEY": "not-a-key"},
        )
        terminal.send("what is this? ")
        terminal.paste("\n".join(lines))
        shown = terminal.wait_for("2,000 lines pasted")
        assert "line 7 of the log" not in shown
        terminal.press("enter")
        shown = terminal.wait_for("Read it all.", "2,000 lines in all")
        said = server.requests[0].body["messages"][-1]["content"]
    text = said if isinstance(said, str) else said[0]["text"]
    assert "what is this? " + "\n".join(lines) in text


def test_chinese_is_typed_and_shown_in_line(agent: Opener) -> None:
    table = "| 名称 | 值 |\n|---|---|\n| 你好世界 | 一 |\n| ab | c |\n"
    terminal = agent({"text": f"好的，我来看看。\n\n{table}"})
    terminal.send("修复登录测试")
    terminal.wait_for("修复登录测试")
    column, _ = terminal.cursor
    assert column == 2 + 2 * len("修复登录测试")
    terminal.press("enter")
    shown = terminal.wait_for("好的，我来看看。", "你好世界")
    assert "▌ 修复登录测试" in shown
    cells = [line for line in terminal.cells() if "你" in line or "ab" in line]
    starts = [next(i for i, cell in enumerate(line) if cell in "一c") for line in cells]
    assert len(set(starts)) == 1, "the second column begins in the same cell"


def test_new_lines_are_written_with_alt_enter_and_ctrl_j(agent: Opener) -> None:
    terminal = agent({"text": "Seen."})
    terminal.send("one")
    terminal.press("alt+enter")
    terminal.send("two")
    terminal.press("ctrl+j")
    terminal.send("three\\")
    terminal.press("enter")
    terminal.send("four")
    terminal.wait_for("one", "two", "three", "four")
    terminal.press("enter")
    shown = terminal.wait_for("Seen.")
    assert re.search(r"▌ one\n▌ two\n▌ three\n▌ four", shown)


def test_a_message_waits_for_the_turn_and_can_be_taken_back(agent: Opener) -> None:
    slow = {"text": "word " * 400, "pieces": 400, "delay": 0.05}
    terminal = agent(slow, {"text": "Second answer."})
    ask(terminal, "first")
    terminal.wait_for("word")
    ask(terminal, "and then this")
    terminal.wait_for("⏎ and then this")
    terminal.press("escape")
    terminal.wait_until(lambda shown: "⏎ and" not in shown and "▌ and then this" in shown)
    terminal.press("enter")
    terminal.wait_for("⏎ and then this")
    terminal.press("ctrl+c")
    terminal.wait_for("Interrupted.", "The queue is on hold", "⏎ and then this")
    terminal.press("enter")
    shown = terminal.wait_for("Second answer.")
    assert shown.index("Interrupted.") < shown.index("▌ and then this")


def test_enter_sends_a_waiting_message_into_the_turn(program: Program, agent: Opener) -> None:
    waits = "until [ -e made ]; do sleep 0.1; done"
    with running_server(
        Reply("Looking.", calls=[Call("Bash", {"command": waits})]),
        Reply("Steered."),
    ) as server:
        terminal = agent(
            model="openai/gpt-4o",
            flags=("--permission-mode", "yolo", "--trust", "--api-base", f"{server.url}/v1"),
            env={"OPENAI_API_KEY": "not-a-key"},
        )
        ask(terminal, "first")
        terminal.wait_for("until [ -e made ]")
        ask(terminal, "use the other file")
        terminal.wait_for("⏎ use the other file")
        terminal.press("enter")
        terminal.wait_gone("⏎ use the other file")
        (program.workspace / "made").touch()
        terminal.wait_for("Steered.")
        assert len(server.requests) == 2
        assert server.requests[1].body["messages"][-1]["role"] == "user"
        assert "use the other file" in json.dumps(server.requests[1].body["messages"][-1])
    assert "▌ use the other file" in terminal.text()


# ── interrupting ──────────────────────────────────────────────────────────────────────────────────

STREAMS = {"text": "word " * 2000, "pieces": 2000, "delay": 0.05}


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
def test_a_reply_is_interrupted_while_it_streams(agent: Opener, key: str) -> None:
    terminal = agent(STREAMS, {"text": "Next answer."})
    ask(terminal, "go")
    terminal.wait_for("word word")
    terminal.press(key)
    terminal.wait_for("Interrupted.")
    wait_idle(terminal)
    ask(terminal, "again")
    terminal.wait_for("Next answer.")


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
def test_a_command_is_interrupted_while_it_runs(agent: Opener, key: str) -> None:
    marker = f"97{os.getpid()}{len(key)}"
    terminal = agent(
        {"calls": [bash(f"echo started; sleep {marker}")]},
        flags=("--trust", "--permission-mode", "yolo"),
    )
    ask(terminal, "go")
    terminal.wait_for("│ started")
    wait_until(lambda: processes_with(f"sleep\0{marker}"))
    terminal.press(key)
    terminal.wait_for("Interrupted.")
    wait_until(lambda: not processes_with(f"sleep\0{marker}"))


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
def test_an_open_modal_is_left_without_a_yes(program: Program, agent: Opener, key: str) -> None:
    terminal = agent({"calls": [bash("touch made")]}, {"text": "Then not."})
    ask(terminal, "go")
    terminal.wait_for("Run this command?", ANSWERABLE)
    terminal.let_pass(A_MOMENTS_LOOK)
    terminal.press(key)
    terminal.wait_for("Then not." if key == "escape" else "Interrupted.")
    assert "Run this command?" not in terminal.text()
    assert not (program.workspace / "made").exists()
    wait_idle(terminal)


# ── sizes ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_window_changes_its_size_while_a_reply_streams(agent: Opener) -> None:
    words = " ".join(f"w{number:03}" for number in range(200))
    terminal = agent({"text": words, "pieces": 200, "delay": 0.01})
    ask(terminal, "go")
    for size in ((60, 20), (160, 50), (41, 12), (240, 70), (100, 30)):
        terminal.wait_for("w0")
        terminal.resize(*size)
        terminal.wait_until(lambda shown, width=size[0]: _fits(shown, width))
    shown = terminal.wait_for("w199")
    wait_idle(terminal)
    seen = re.findall(r"w\d{3}", terminal.text())
    assert seen == sorted(set(seen)), "no word is lost, doubled or out of order"
    assert "w000" in shown


def _fits(shown: str, width: int) -> bool:
    """Whether the status line has been drawn for this width."""
    last = shown.rsplit("\n", maxsplit=1)[-1]
    return last.lstrip().startswith("default") and len(last) <= width


@pytest.mark.parametrize("size", [(60, 20), (240, 70)])
def test_everything_fits(program: Program, agent: Opener, size: tuple[int, int]) -> None:
    (program.workspace / "a.txt").write_text("hello\n")
    edit = {"file_path": "a.txt", "old_string": "hello", "new_string": "goodbye"}
    terminal = agent(
        {"text": "I look.", "calls": [{"name": "Read", "arguments": {"file_path": "a.txt"}}]},
        {"calls": [{"name": "Edit", "arguments": edit}]},
        {"text": "Done."},
        size=size,
    )
    ask(terminal, "go")
    shown = answer(terminal, "Make this change?", "y")
    for words in ("No, because", "Yes, once", "Yes, always in this project", "goodbye"):
        assert words in shown
    shown = terminal.wait_for("Done.", "✅ Edit")
    assert re.search(r"✅ Read +a\.txt", shown)
    assert "default ⇧⇥" in shown


# ── commands ──────────────────────────────────────────────────────────────────────────────────────


def test_commands_and_modes(program: Program, agent: Opener) -> None:
    terminal = agent({"text": "hi"})
    other = program.script({"text": "From the other."})
    ask(terminal, "/help")
    terminal.wait_for("Keys", "Shift+Enter")
    terminal.press("escape")
    terminal.wait_gone("Shift+Enter")
    terminal.press("shift+tab")
    terminal.wait_for("accept-edits ⇧⇥")
    ask(terminal, "/mode plan")
    terminal.wait_for("plan ⇧⇥")
    terminal.paste(f"/model {other}")
    terminal.press("enter")
    terminal.wait_for("The model is now")
    ask(terminal, "/nonsense")
    terminal.wait_for("There is no command /nonsense.")
    ask(terminal, "hello")
    terminal.wait_for("From the other.")


# ── what must not end it ──────────────────────────────────────────────────────────────────────────


def test_a_stray_file_among_the_sessions_does_not_end_it(program: Program, agent: Opener) -> None:
    stray = program.home / ".local/state/agent/sessions/abc.bak.jsonl"
    stray.parent.mkdir(parents=True)
    stray.write_text("{}\n")
    os.utime(stray, (0, 0))
    terminal = agent({"text": "Still here."})
    terminal.let_pass(2)
    ask(terminal, "hello")
    terminal.wait_for("Still here.")


# ── leaving ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("way", ["ctrl+c", "/quit", "while streaming", "SIGTERM", "SIGHUP"])
def test_leaving_restores_the_terminal_and_leaves_nothing_behind(
    program: Program, agent: Opener, way: str
) -> None:
    terminal = agent(STREAMS, env={"AGENT_TEST_MARK": str(program.home)})
    assert "?1049" in terminal.modes_left_on
    if way == "while streaming":
        ask(terminal, "go")
        terminal.wait_for("word")
    if way == "ctrl+c":
        terminal.press("ctrl+c")
        terminal.wait_for("Press Ctrl+C again to quit.")
        terminal.press("ctrl+c")
    elif way.startswith("SIG"):
        terminal.process.send_signal(signal.Signals[way])
    else:
        ask(terminal, "/quit")
    code = terminal.wait_end()
    assert way.startswith("SIG") or code == 0
    assert not terminal.modes_left_on - {"?7", "?25"}, "only line wrap and the cursor stay on"
    assert terminal.shows_cursor
    assert terminal.local_modes() & (termios.ECHO | termios.ICANON | termios.ISIG)
    assert "Traceback" not in terminal.text()
    wait_until(lambda: not processes_with(f"AGENT_TEST_MARK={program.home}"))


def test_a_terminal_that_goes_away_takes_everything_with_it(
    program: Program, agent: Opener
) -> None:
    terminal = agent(STREAMS, env={"AGENT_TEST_MARK": str(program.home)})
    ask(terminal, "go")
    terminal.wait_for("word")
    terminal.hang_up()
    wait_until(lambda: not processes_with(f"AGENT_TEST_MARK={program.home}"))


def test_a_terminal_that_goes_away_while_it_is_slow_is_not_waited_for(
    program: Program, agent: Opener
) -> None:
    much = {"text": "".join(f"line {n} of very many\n\n" for n in range(9000)), "pieces": 3000}
    terminal = agent({**much, "delay": 0.001}, env={"AGENT_TEST_MARK": str(program.home)})
    ask(terminal, "go")
    terminal.wait_for("line 3")
    time.sleep(3)  # meanwhile nobody reads, and what is written piles up
    terminal.hang_up()
    wait_until(lambda: not processes_with(f"AGENT_TEST_MARK={program.home}"))


# ── terminals ─────────────────────────────────────────────────────────────────────────────────────


def test_no_color_is_respected(agent: Opener) -> None:
    terminal = agent({"text": "Plain **words**."}, env={"NO_COLOR": "1"})
    ask(terminal, "go")
    terminal.wait_for("Plain words.")
    colours = set(re.findall(rb"[34]8;2;(\d+);(\d+);(\d+)", bytes(terminal.raw)))
    assert all(red == green == blue for red, green, blue in colours)
