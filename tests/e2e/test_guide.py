"""The offline guide as a newcomer meets it: no model, no key, a real terminal."""

import json

import pytest

from tests.e2e.test_screen import answer, ask
from tests.kit.program import Program
from tests.kit.terminal import AGENT, Terminal


@pytest.mark.parametrize("flags", [(), ("--inline",)], ids=["full screen", "inline"])
def test_the_tour_is_walked_with_enter(program: Program, flags: tuple[str, ...]) -> None:
    """Without a model, without a key: to the prompt, through the tour, to its end."""
    with Terminal(
        [*AGENT, "--trust", *flags],
        cwd=program.workspace,
        env=program.environment(),
        size=(100, 60),
    ) as terminal:
        terminal.wait_for("Ask, or / for commands", "offline:guide", "so this is the offline guide")
        ask(terminal, "tour")
        terminal.wait_for("1 of 5", "✅ Read", "so you weren't asked")
        go_on(terminal)
        terminal.wait_for("2 of 5", "✅ Grep", "A model works the same way")
        go_on(terminal)
        shown = answer(terminal, "Make this change?", "y")
        assert "helo" in shown
        terminal.wait_for("✅ Edit", "The file is changed.")
        go_on(terminal)
        shown = answer(terminal, "Run this command?", "y")
        assert "rm -rf" in shown
        assert "deletes 2 files" in shown
        terminal.wait_for("✅ Bash", "The folder is deleted.")
        go_on(terminal)
        terminal.wait_for("5 of 5", "Press Enter to run it now")
        go_on(terminal)
        shown = answer(terminal, "Undo 1 change?", "y")
        assert "restored" in shown
        terminal.wait_for("Undid 1 change")
        ask(terminal, "next")
        terminal.wait_for("That was the tour.")
    assert list(program.workspace.iterdir()) == []


def go_on(terminal: Terminal) -> None:
    """Enter on the empty prompt, once the turn is over."""
    terminal.wait_gone("esc interrupts")
    terminal.press("enter")


def test_a_script_is_told_that_there_is_no_model(program: Program) -> None:
    done = program.run("-p", "explain this project")
    assert done.code == 2
    assert done.out == ""
    assert "No model chosen." in done.err
    assert "agent setup" in done.err


def test_the_guide_answers_a_script_that_names_it(program: Program) -> None:
    (program.workspace / "a.txt").write_text("one\ntwo\n")
    done = program.run("--model", "offline:guide", "-p", "show a.txt")
    assert done.code == 0, done.err
    assert "one\ntwo" in done.out
    done = program.run("--model", "offline:guide", "-p", "tour")
    assert done.code == 4
    assert "That was the tour." in done.out


def test_the_tour_is_walked_over_a_pipe(program: Program) -> None:
    lines = [{"type": "prompt", "text": text} for text in ("tour", *["next"] * 5)]
    done = program.run(
        "--model", "offline:guide", "--permission-mode", "yolo", "--trust",
        "--input-format", "stream-json", "--output-format", "stream-json",
        stdin="".join(json.dumps(line) + "\n" for line in lines),
    )  # fmt: skip
    ends = [event for event in done.events if event["type"] == "turn_finished"]
    assert [end["suggestion"] for end in ends] == ["next"] * 4 + ["/undo\nnext", ""]
    assert "That was the tour." in ends[-1]["text"]
