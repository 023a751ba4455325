"""The inline prompt as a person meets it: the real program, in a real terminal."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.kit.foreign_text import (
    CASES,
    HARMLESS,
    SEQUENCE,
    TEXTS,
    controls,
    hostile_folder,
    hostile_steps,
    is_telling,
    sequences,
)
from tests.kit.model_server import Call, Reply, running_server
from tests.kit.program import Program, processes_with, wait_until
from tests.kit.terminal import AGENT, Terminal

READY = "Ask, or / for commands"
ANSWERABLE = "enter confirm"
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


def _scripted(call: Call) -> dict[str, Any]:
    return {"name": call.name, "arguments": call.arguments}


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
    replies = first_story(program)
    steps = [{"text": r.text, "calls": [_scripted(call) for call in r.calls]} for r in replies]
    terminal = agent(*steps, flags=flags, env=env, wait=BY_NUMBER, size=(100, 80))
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
    assert shown.count("leave build alone") == 2, "as it was typed, and as the model is told"
    assert (program.workspace / "greet.py").read_text() == 'print("hello")\n'
    for sign in signs:
        assert sign in shown
    terminal.press("ctrl+d")
    assert terminal.wait_end() == 0
    sent = bytes(terminal.raw).replace(b"\x1b[?2004h", b"").replace(b"\x1b[?2004l", b"")
    assert b"\x1b" not in sent, "nothing but text, and the marks of pastes"
    assert terminal.modes_left_on <= {"?7", "?25"}


def test_lines_come_in_and_go_out_through_pipes(program: Program) -> None:
    (program.workspace / "note.txt").write_text("remember the milk\n")
    script = program.script(
        {"text": "Looking.", "calls": [{"name": "Read", "arguments": {"file_path": "note.txt"}}]},
        {"text": "It says milk."},
        {"text": "You are welcome."},
    )
    lines = "what does note.txt say?\n/mode plan\nthanks\n"
    done = program.run("--inline", "--trust", "--model", script, stdin=lines)
    assert done.code == 0, done.err
    parts = ["> what does", "Looking.", "ok Read  note.txt", "It says milk.", "plan", "> thanks"]
    places = [done.out.index(part) for part in (*parts, "You are welcome.")]
    assert places == sorted(places)
    assert "\x1b" not in done.out


def test_nobody_answers_questions_through_a_pipe(program: Program) -> None:
    script = program.script({"calls": [bash("touch made")]}, {"text": "Then not."})
    done = program.run("--inline", "--trust", "--model", script, stdin="go\ny\n3\n")
    assert done.code == 0
    assert "Blocked: `touch` can change files" in done.out
    assert "> y\n" in done.out, "what comes next is the next message"
    assert not (program.workspace / "made").exists()


def test_output_goes_through_a_pipe_while_a_person_types(program: Program, agent: Opener) -> None:
    script = program.script({"calls": [bash("touch made")]}, {"text": "It is made."})
    command = f"{AGENT[0]} -m agent_cli --inline --trust --model {script} | tee seen.txt"
    argv = ("bash", "-c", command)
    with Terminal(argv, cwd=program.workspace, env=program.environment()) as terminal:
        terminal.wait_for("/help")
        terminal.send("go\n")
        answer_by_number(terminal, "Run this command?", "3", 1)
        terminal.wait_for("It is made.")
        terminal.press("ctrl+d")
        assert terminal.wait_end() == 0
    assert (program.workspace / "made").exists()
    assert "\x1b" not in (program.workspace / "seen.txt").read_text()


def test_the_configuration_chooses_the_inline_prompt(program: Program, agent: Opener) -> None:
    folder = program.home / ".config" / "agent"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('ui = "inline"\n')
    terminal = agent({"text": "hi"}, flags=("--trust",))
    assert "?1049" not in terminal.modes_left_on


# ── type-ahead ────────────────────────────────────────────────────────────────────────────────────


def test_what_is_typed_as_a_question_appears_goes_to_the_prompt(
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
    terminal.wait_for("Your keystrokes went to the prompt", f"▌ {typed}yyy")
    assert not (program.workspace / "made").exists()
    terminal.wait_for(ANSWERABLE)
    terminal.press("escape")
    terminal.wait_for("Finished.")
    assert not (program.workspace / "made").exists()
    assert f"▌ {typed}yyy" in terminal.text()


def test_of_a_long_paste_the_beginning_is_printed(agent: Opener) -> None:
    terminal = agent({"text": "Read."})
    terminal.paste("".join(f"line {number}\n" for number in range(300)))
    terminal.wait_for("pasted #1")
    terminal.press("enter")
    terminal.wait_for("▌ line 11", "300 lines in all", "Read.")
    assert "line 12" not in terminal.text()


def test_a_paste_never_answers(program: Program, agent: Opener) -> None:
    terminal = agent({"calls": [bash("touch made")]}, {"text": "Finished."})
    ask(terminal, "go")
    terminal.wait_for("Run this command?", ANSWERABLE)
    terminal.paste("y")
    terminal.wait_for("Your keystrokes went to the prompt", "▌ y")
    assert not (program.workspace / "made").exists()
    terminal.wait_for(ANSWERABLE)
    terminal.send("n")
    terminal.wait_for("Finished.")
    assert not (program.workspace / "made").exists()


def test_a_line_typed_before_a_question_does_not_answer_it(program: Program, agent: Opener) -> None:
    terminal = agent(
        {"text": "word " * 40, "pieces": 40, "delay": 0.02, "calls": [bash("touch made")]},
        {"text": "Finished."},
        {"text": "Heard."},
        flags=("--screen-reader", "--trust"),
        wait="/help",
    )
    terminal.send("go\n")
    terminal.wait_for("> go")
    terminal.send("3")  # begun before the question, ended when it is there
    terminal.wait_for("Run this command?", BY_NUMBER, "Your keystrokes went to the prompt")
    terminal.let_pass(A_MOMENTS_LOOK)
    terminal.send("\n")
    terminal.wait_for("Finished.")
    assert not (program.workspace / "made").exists()


def test_a_pasted_number_does_not_answer_a_question_read_aloud(
    program: Program, agent: Opener
) -> None:
    terminal = agent(
        {"calls": [bash("touch made")]},
        {"text": "Finished."},
        {"text": "Heard."},
        flags=("--screen-reader", "--trust"),
        wait="/help",
    )
    terminal.send("go\n")
    terminal.wait_for("Run this command?", BY_NUMBER)
    terminal.wait_until(lambda _: "?2004" in terminal.modes_left_on)
    terminal.let_pass(A_MOMENTS_LOOK)
    terminal.paste("3\n")
    terminal.send("\n")
    terminal.wait_for("Your keystrokes went to the prompt")
    assert not (program.workspace / "made").exists()


# ── what the model asks ───────────────────────────────────────────────────────────────────────────


def test_questions_are_answered_with_a_choice_and_with_own_words(agent: Opener) -> None:
    options = [{"label": "tabs"}, {"label": "spaces"}]
    questions = [{"text": "Which ones?", "options": options}, {"text": "How wide?"}]
    with running_server(
        Reply(calls=[Call("AskUser", {"questions": questions})]), Reply("I see.")
    ) as server:
        terminal = agent(
            model="openai/gpt-4o",
            flags=("--inline", "--trust", "--api-base", f"{server.url}/v1"),
            env={"OPENAI_API_KEY": "not-a-key"},
        )
        ask(terminal, "indent it")
        answer(terminal, "Which ones?", "2")
        terminal.wait_gone("1 of 2")
        answer(terminal, "2 of 2", "w")
        terminal.wait_for("Your answer")
        terminal.send("four cells")
        terminal.wait_for("four cells")
        terminal.press("enter")
        terminal.wait_for("I see.")
        told = json.dumps(server.requests[-1].body["messages"][-1])
    assert "spaces" in told
    assert "four cells" in told


def test_a_plan_is_carried_out_after_a_yes(program: Program, agent: Opener) -> None:
    plan = {"name": "ExitPlanMode", "arguments": {"plan": "1. Write the note\n2. Rest"}}
    write = {"name": "Write", "arguments": {"file_path": "note.txt", "content": "done\n"}}
    terminal = agent(
        {"calls": [plan]},
        {"calls": [write]},
        {"text": "Rested."},
        flags=("--inline", "--trust", "--permission-mode", "plan"),
    )
    ask(terminal, "go")
    shown = answer(terminal, "Carry out this plan?", "a")
    assert "2. Rest" in shown
    terminal.wait_for("Rested.", "accept-edits mode")
    assert (program.workspace / "note.txt").read_text() == "done\n"


# ── writing ───────────────────────────────────────────────────────────────────────────────────────


def test_new_lines_are_written_with_alt_enter_ctrl_j_and_a_backslash(agent: Opener) -> None:
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
    assert "▌ one\n▌ two\n▌ three\n▌ four" in shown


def test_commands_and_files_are_completed(program: Program, agent: Opener) -> None:
    (program.workspace / "parser.py").touch()
    terminal = agent({"text": "Seen."})
    terminal.send("look at @pars")
    terminal.wait_for(" parser.py")
    terminal.press("tab")
    terminal.wait_for("look at @parser.py")
    terminal.press("ctrl+c")
    terminal.wait_for(READY)
    terminal.send("/mod")
    terminal.wait_for("show or change the permission mode")
    terminal.press("tab")
    terminal.wait_for("▌ /mode")
    terminal.send("plan")
    terminal.press("enter")
    terminal.wait_for("plan mode")


def test_what_is_sent_before_the_prompt_is_there_is_sent(agent: Opener) -> None:
    terminal = agent({"text": "An early answer."}, wait="")
    terminal.send("early\rand mo")
    terminal.wait_for("▌ early", "An early answer.", "▌ and mo")


def test_earlier_prompts_come_back(agent: Opener) -> None:
    terminal = agent({"text": "Seen."}, {"text": "Again."})
    ask(terminal, "remember this")
    terminal.wait_for("Seen.")
    terminal.wait_gone("esc interrupts")
    terminal.press("up")
    terminal.wait_until(lambda shown: shown.count("▌ remember this") == 2)


def test_messages_wait_for_the_turn_and_enter_sends_them_into_it(
    program: Program, agent: Opener
) -> None:
    waits = "until [ -e made ]; do sleep 0.1; done"
    terminal = agent(
        {"calls": [bash(waits)]},
        {"text": "Steered."},
        {"text": "Second answer."},
        flags=("--inline", "--trust", "--permission-mode", "yolo"),
    )
    ask(terminal, "first")
    terminal.wait_for("⏳ Bash")
    ask(terminal, "use the other file")
    terminal.wait_for("⏎ use the other file")
    terminal.press("enter")
    terminal.wait_gone("⏎ use the other file")
    ask(terminal, "and then this")
    terminal.wait_for("⏎ and then this")
    (program.workspace / "made").touch()
    shown = terminal.wait_for("Steered.", "Second answer.")
    order = ["▌ use the other file", "Steered.", "▌ and then this", "Second answer."]
    assert [shown.index(each) for each in order] == sorted(shown.index(each) for each in order)


def test_own_commands_run_at_once_and_are_shown_whole(agent: Opener) -> None:
    terminal = agent()
    ask(terminal, "!seq 9")
    terminal.wait_for("✅ Bash", *(f"│ {number}" for number in range(1, 10)))


# ── interrupting ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
def test_a_command_is_interrupted_while_it_runs(agent: Opener, key: str) -> None:
    marker = f"96{os.getpid()}{len(key)}"
    terminal = agent(
        {"calls": [bash(f"echo started; sleep {marker}")]},
        flags=("--inline", "--trust", "--permission-mode", "yolo"),
    )
    ask(terminal, "go")
    terminal.wait_for("│ started")
    terminal.press(key)
    terminal.wait_for("Interrupted.")
    wait_until(lambda: not processes_with(f"sleep\0{marker}"))


def test_an_interrupted_question_goes_away_and_the_prompt_takes_another(agent: Opener) -> None:
    terminal = agent({"calls": [bash("touch made")]}, {"text": "And on."})
    ask(terminal, "go")
    terminal.wait_for("Run this command?", ANSWERABLE)
    terminal.press("ctrl+c")
    terminal.wait_for("Interrupted.")
    terminal.wait_gone("Run this command?")
    ask(terminal, "again")
    terminal.wait_for("And on.")


def test_an_interrupted_question_in_plain_lines_asks_for_nothing_more(agent: Opener) -> None:
    terminal = agent(
        {"calls": [bash("touch made")]},
        {"text": "And on."},
        flags=("--screen-reader", "--trust"),
        wait="/help",
    )
    terminal.send("go\n")
    terminal.wait_for("Run this command?", BY_NUMBER)
    terminal.press("ctrl+c")
    terminal.wait_for("No answer is needed any more.", "Interrupted.")
    terminal.send("again\n")
    shown = terminal.wait_for("And on.")
    assert "> again\n\nAnd on." in shown, "no prompt in between"


def test_a_question_ends_when_no_more_lines_can_come(program: Program, agent: Opener) -> None:
    terminal = agent(
        {"calls": [bash("touch made")]},
        {"text": "Then not."},
        flags=("--screen-reader", "--trust"),
        wait="/help",
    )
    terminal.send("go\n")
    terminal.wait_for("Run this command?", BY_NUMBER)
    terminal.let_pass(A_MOMENTS_LOOK)
    terminal.press("ctrl+d")
    assert terminal.wait_end() == 0
    assert "Then not." in terminal.text()
    assert not (program.workspace / "made").exists()


def test_nobody_undoes_through_a_pipe(program: Program) -> None:
    write = {"name": "Write", "arguments": {"file_path": "note.txt", "content": "new\n"}}
    model = program.script({"calls": [write]}, {"text": "Written."}, {"text": "Bye."})
    flags = ("--inline", "--trust", "--permission-mode", "accept-edits", "--model", model)
    done = program.run(*flags, stdin="write it\n/undo\nthanks\n")
    assert done.code == 0, done.err
    assert (program.workspace / "note.txt").exists()
    order = [done.out.index(each) for each in ("Written.", "Yes, undo", "> thanks", "Bye.")]
    assert order == sorted(order)


def test_ctrl_c_interrupts_in_plain_lines(agent: Opener) -> None:
    marker = f"95{os.getpid()}"
    terminal = agent(
        {"calls": [bash(f"sleep {marker}")]},
        flags=("--screen-reader", "--trust", "--permission-mode", "yolo"),
        wait="/help",
    )
    terminal.send("go\n")
    wait_until(lambda: processes_with(f"sleep\0{marker}"))
    terminal.press("ctrl+c")
    terminal.wait_for("Interrupted.")
    wait_until(lambda: not processes_with(f"sleep\0{marker}"))


# ── text of others ────────────────────────────────────────────────────────────────────────────────


def test_no_text_of_others_reaches_the_terminal_as_a_sequence(tmp_path: Path) -> None:
    (tmp_path / "clean").mkdir()
    (tmp_path / "hostile").mkdir()
    expected = sequences("".join(tour(Program(tmp_path / "clean"), HARMLESS)))
    shown, pasted = tour(Program(tmp_path / "hostile"), TEXTS)
    assert sequences(shown + pasted) - expected == set()
    moves_back = {"\b"}  # by prompt_toolkit, for a single cell
    assert controls(SEQUENCE.sub("", shown + pasted)) <= moves_back
    text = SEQUENCE.sub("", shown)
    for case in CASES:
        for forbidden in case["must_not_contain"]:
            if is_telling(forbidden):
                assert forbidden not in text, case["id"]


def tour(program: Program, texts: Sequence[str]) -> tuple[str, str]:
    """Show the texts everywhere, then paste them; what the terminal was sent."""
    hostile_folder(program, texts)
    argv = [*AGENT, "--inline", "--trust", "--model", program.script(*hostile_steps(texts))]
    env = program.environment()
    with Terminal(argv, cwd=program.workspace, env=env, size=(100, 40)) as terminal:
        terminal.wait_for(READY)
        for number, end in enumerate(("MODEL", "OUTPUT", "NAMES", "UNKNOWN", "ERROR")):
            ask(terminal, f"turn {number}")
            terminal.wait_for(f"{end} END")
            terminal.wait_gone("esc interrupts")
        ask(terminal, "turn with questions")
        for heading in ("Run this command?", "Make this change?", "The model asks"):
            terminal.wait_for(heading, ANSWERABLE)
            terminal.press("escape")
            terminal.wait_gone(heading)
        terminal.wait_for("MODAL END")
        terminal.wait_gone("esc interrupts")
        foreign = bytes(terminal.raw).decode()
        for text in texts:
            terminal.paste(text.replace("\x1b[201~", "")[:200])
        terminal.send("pasted")
        terminal.wait_for("pasted")
        assert terminal.process.poll() is None
        return foreign, bytes(terminal.raw[len(foreign.encode()) :]).decode()


# ── sessions ──────────────────────────────────────────────────────────────────────────────────────


def test_a_session_goes_on_where_it_was_left(agent: Opener) -> None:
    terminal = agent({"text": "It is blue."})
    ask(terminal, "remember the colour")
    terminal.wait_for("It is blue.")
    terminal.wait_gone("esc interrupts")
    terminal.press("ctrl+d")
    assert terminal.wait_end() == 0
    assert "Resume with agent -r" in terminal.text()
    terminal = agent({"text": "Still blue."}, flags=("--inline", "--trust", "-c"))
    shown = terminal.wait_for("▌ remember the colour", "It is blue.", "Resumed")
    assert shown.count("▌ remember the colour") == 1
    ask(terminal, "and now?")
    terminal.wait_for("Still blue.")


def test_another_session_is_chosen_at_the_prompt(agent: Opener) -> None:
    terminal = agent({"text": "It is blue."})
    ask(terminal, "remember the colour")
    terminal.wait_for("It is blue.")
    terminal.wait_gone("esc interrupts")
    terminal.press("ctrl+d")
    terminal.wait_end()
    terminal = agent({"text": "New."})
    ask(terminal, "/sessions")
    answer(terminal, "remember the colour", "1")
    terminal.wait_for("Resumed", "It is blue.")


def test_a_change_is_undone_after_a_question(program: Program, agent: Opener) -> None:
    write = {"name": "Write", "arguments": {"file_path": "note.txt", "content": "new\n"}}
    terminal = agent(
        {"calls": [write]},
        {"text": "Written."},
        flags=("--inline", "--trust", "--permission-mode", "accept-edits"),
    )
    ask(terminal, "write it")
    terminal.wait_for("Written.")
    terminal.wait_gone("esc interrupts")
    assert (program.workspace / "note.txt").exists()
    ask(terminal, "/undo")
    answer(terminal, "Yes, undo", "y")
    terminal.wait_for("Undid 1 change (1 file). /redo reapplies it.")
    assert not (program.workspace / "note.txt").exists()


def test_without_a_model_the_guide_answers_inline(program: Program) -> None:
    argv = (*AGENT, "--inline", "--trust")
    (program.workspace / "note.txt").write_text("remember the milk\n")
    env = program.environment()
    with Terminal(argv, cwd=program.workspace, env=env, size=(100, 40)) as terminal:
        terminal.wait_for(READY, "offline guide")
        ask(terminal, "read note.txt")
        terminal.wait_for("✅ Read  note.txt", "remember the milk")
