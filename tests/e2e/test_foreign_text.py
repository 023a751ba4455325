"""Text that others wrote, through every place of the screen: none of it acts on the terminal."""

from collections.abc import Sequence
from pathlib import Path

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
from tests.kit.program import Program
from tests.kit.terminal import AGENT, Terminal

UNFOCUSED = "\x1b[O"
A_MOMENTS_LOOK = 0.6


def test_no_text_of_others_reaches_the_terminal_as_a_sequence(tmp_path: Path) -> None:
    (tmp_path / "clean").mkdir()
    (tmp_path / "hostile").mkdir()
    expected = sequences("".join(tour(Program(tmp_path / "clean"), HARMLESS)))
    shown, pasted = tour(Program(tmp_path / "hostile"), TEXTS)
    assert sequences(shown + pasted) - expected == set()
    assert controls(SEQUENCE.sub("", shown + pasted)) == set()
    text = SEQUENCE.sub("", shown)
    for case in CASES:
        for forbidden in case["must_not_contain"]:
            if is_telling(forbidden):
                assert forbidden not in text, case["id"]


def tour(program: Program, texts: Sequence[str]) -> tuple[str, str]:
    """Show the texts everywhere, then paste them into the prompt; what the terminal was sent."""
    hostile_folder(program, texts)
    argv = [*AGENT, "--trust", "--model", program.script(*hostile_steps(texts))]
    env = program.environment()
    with Terminal(argv, cwd=program.workspace, env=env, size=(100, 40)) as terminal:
        terminal.wait_for("Ask, or / for commands")
        for number, end in enumerate(("MODEL", "OUTPUT", "NAMES", "UNKNOWN", "ERROR")):
            _ask(terminal, f"turn {number}")
            terminal.wait_for(f"{end} END")
            terminal.wait_gone("esc interrupts")
            if end in ("OUTPUT", "UNKNOWN"):
                _read_all(terminal)
        terminal.send(UNFOCUSED)
        _ask(terminal, "turn with modals")
        for heading in ("Run this command?", "Make this change?", "Which one?"):
            _deny(terminal, heading)
        terminal.wait_for("MODAL END")
        terminal.wait_gone("esc interrupts")
        foreign = bytes(terminal.raw).decode()
        for text in texts:
            terminal.paste(text.replace("\x1b[201~", "")[:200])
        terminal.send("pasted")
        terminal.wait_for("pasted")
        assert terminal.process.poll() is None
        return foreign, bytes(terminal.raw[len(foreign.encode()) :]).decode()


def _ask(terminal: Terminal, text: str) -> None:
    terminal.send(text)
    terminal.wait_for(f"▌ {text}")
    terminal.press("enter")


def _read_all(terminal: Terminal) -> None:
    """Unfold everything, look at all of it, and fold it again."""
    terminal.press("ctrl+o")
    for _ in range(4):
        terminal.press("pageup")
        terminal.let_pass(0.05)
    terminal.press("ctrl+o")
    for _ in range(12):
        terminal.press("pagedown")
        terminal.let_pass(0.05)


def _deny(terminal: Terminal, heading: str) -> None:
    terminal.wait_for(heading)
    terminal.let_pass(A_MOMENTS_LOOK)
    for _ in range(6):
        terminal.press("pagedown")
        terminal.let_pass(0.05)
    terminal.let_pass(A_MOMENTS_LOOK)
    terminal.press("escape")
    terminal.wait_gone(heading)
