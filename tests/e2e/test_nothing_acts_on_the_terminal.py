"""Names and keys from elsewhere reach the terminal as text, whichever command prints them."""

import ast

import pytest

from tests.kit.program import Program
from tests.test_architecture import functions, sources

EVIL = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m"
RAW = ("\x1b", "\x07", "\x9b", "\u202e")


def is_clean(text: str) -> bool:
    return not any(each in text for each in RAW)


def test_errors_and_warnings_spell_out_what_would_act(program: Program) -> None:
    agent = program.workspace / ".agent"
    agent.mkdir()
    assert program.run("trust", "--yes").code == 0
    (agent / f"new{EVIL}.md").write_text("x")
    model = program.script({"text": "hi"}, {"text": "hi"})
    for arguments in (("-p", "go", "--model", model), ("config",), ("trust",), ("trust", "--list")):
        done = program.run(*arguments)
        assert is_clean(done.err), arguments
        assert is_clean(done.out), arguments
    assert "owned" in program.run("config").err
    (agent / f"new{EVIL}.md").unlink()
    (agent / "config.toml").write_text(
        f'"key{EVIL[:-5]}" = 1\n'.replace("\x1b", "\\u001b").replace("\x07", "\\u0007")
    )
    assert program.run("trust", "--yes").code == 0
    for arguments in (("-p", "go", "--model", model), ("config",), ("doctor",), ("mcp", "list")):
        done = program.run(*arguments)
        assert is_clean(done.err), arguments
        assert is_clean(done.out), arguments
    assert "owned" in program.run("config").err


def test_names_of_sessions_are_text(program: Program) -> None:
    for number in range(2):
        model = program.script({"text": "hi"})
        assert program.run("-p", f"word {number}{EVIL}", "--model", model).code == 0
    done = program.run("-r", "word", "-p", "go", "--model", program.script({"text": "hi"}))
    assert done.code != 0
    assert "word 0" in done.err
    assert is_clean(done.err)
    assert is_clean(program.run("sessions", "list").out)
    assert is_clean(program.run("-r", f"none{EVIL}", "-p", "x").err)
    assert is_clean(program.run("--cwd", f"/no{EVIL}", "-p", "x").err)


WRITERS = {
    "safety/terminal.py:write_out": "spells out what would act",
    "safety/terminal.py:write_err": "spells out what would act",
    "safety/terminal.py:write_data": "cleans what a terminal gets",
    "cli.py:main": "the version",
    "tools/_document_reader.py:main": "JSON, to the program that started it",
    "subcommands/sessions.py:_tell": "lines that are spelled out piece by piece, with bold words",
    "frontends/repl/flat_stage.py:FlatStage._write": "what the inline renderer drew, cleaned there",
    "doctor/terminal_checks.py:_ask": "a question to the terminal itself",
    "safety/sandbox/landlock_exec.py:_fail": "to the output of a command, which is cleaned as such",
}
"""Every function that writes to standard output or standard error itself, and what it writes."""


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_nothing_else_writes_to_the_terminal(stream: str) -> None:
    found = {
        f"{file}:{name}"
        for file, text in sources().items()
        for name, node in functions(ast.parse(text))
        if any(_writes(each, stream) for each in ast.walk(node))
    }
    assert found <= set(WRITERS)


def _writes(node: ast.AST, stream: str) -> bool:
    """Whether it is a call that writes: `print(…)`, `sys.stdout.write(…)`, `os.write(1, …)`."""
    if not isinstance(node, ast.Call):
        return False
    called = ast.unparse(node.func)
    if called == "print":
        return True
    if called == "os.write":
        return stream in ast.unparse(node) or ast.unparse(node.args[0]) in ("1", "2")
    return f"sys.{stream}" in called and called.rpartition(".")[2] in ("write", "writelines")
