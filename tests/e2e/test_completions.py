"""Completions in real shells."""

import shutil
import subprocess
from pathlib import Path

import pytest

from agent_cli.completions import bash, fish, zsh
from agent_cli.completions.tree import tree
from agent_cli.flags import SUBCOMMANDS, parser
from tests.kit.program import Program
from tests.kit.terminal import Terminal

ROOT = tree(parser(list(SUBCOMMANDS)))


def completed(*words: str, cwd: Path) -> list[str]:
    """What bash offers for the last word."""
    quoted = " ".join(f"'{word}'" for word in words)
    ask = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _agent; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(
        ["bash", "-c", f"{bash.script(ROOT)}\n{ask}"],
        capture_output=True, text=True, cwd=cwd, check=True,
    )  # fmt: skip
    return done.stdout.split("\n")[:-1]


def test_bash_completes_commands_flags_and_values(tmp_path: Path) -> None:
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a file").touch()
    assert completed("agent", "doc", cwd=tmp_path) == ["doctor"]
    assert completed("agent", "--perm", cwd=tmp_path) == ["--permission-mode"]
    assert completed("agent", "--permission-mode", "a", cwd=tmp_path) == ["accept-edits", "auto"]
    assert completed("agent", "--permission-mode", "=", "pl", cwd=tmp_path) == ["plan"]
    assert completed("agent", "doctor", "--off", cwd=tmp_path) == ["--offline"]
    assert completed("agent", "sessions", "sh", cwd=tmp_path) == ["show"]
    assert completed("agent", "completions", "f", cwd=tmp_path) == ["fish"]
    assert completed("agent", "--cwd", "a", cwd=tmp_path) == ["a folder"]
    assert completed("agent", "--json-schema", "a f", cwd=tmp_path) == ["a file", "a folder"]
    assert completed("agent", "--model", "", cwd=tmp_path) == [""]


def test_a_person_presses_tab_in_bash(program: Program) -> None:
    done = program.run("completions", "bash")
    assert done.code == 0
    script = program.home / "agent.bash"
    script.write_text(done.out)
    env = program.environment({"PS1": "$ ", "BASH_SILENCE_DEPRECATION_WARNING": "1"})
    argv = ("bash", "--norc", "--noprofile", "-i")
    with Terminal(argv, cwd=program.workspace, env=env) as terminal:
        terminal.send(f". {script} && echo sour''ced\r")
        terminal.wait_for("sourced")
        terminal.send("agent doc\t--off\t")
        terminal.wait_for("agent doctor --offline")


@pytest.mark.parametrize("write", [bash.script, zsh.script, fish.script])
def test_no_command_and_no_flag_is_forgotten(write) -> None:  # type: ignore[no-untyped-def]
    script = write(ROOT)
    for node in ROOT.walk():
        assert node.name in script
        for flag in node.flags:
            assert flag.names[-1].lstrip("-") in script, flag


@pytest.mark.parametrize(("shell", "write"), [("zsh", zsh.script), ("fish", fish.script)])
def test_other_shells_can_read_theirs(shell: str, write, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed here")
    file = tmp_path / "script"
    file.write_text(write(ROOT))
    done = subprocess.run([program, "-n", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
