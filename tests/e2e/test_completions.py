"""Completions in real shells."""

import argparse
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_cli.flags import SUBCOMMANDS, parser
from agent_cli.subcommands.completions import SHELLS, script
from tests.kit.program import Program
from tests.kit.terminal import Terminal

PARSER = parser(list(SUBCOMMANDS))


def completed(*words: str, cwd: Path) -> list[str]:
    """What bash offers for the last word."""
    quoted = " ".join(f"'{word}'" for word in words)
    ask = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _agent; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(
        ["bash", "-c", f"{script(PARSER, 'bash')}\n{ask}"],
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
    assert "yolo" in completed("agent", "--permission-mode", "=", cwd=tmp_path)
    assert completed("agent", "doctor", "--off", cwd=tmp_path) == ["--offline"]
    assert completed("agent", "sessions", "sh", cwd=tmp_path) == ["show"]
    assert completed("agent", "completions", "f", cwd=tmp_path) == ["fish"]
    assert completed("agent", "--cwd", "a", cwd=tmp_path) == ["a folder"]
    assert completed("agent", "--json-schema", "a f", cwd=tmp_path) == ["a file", "a folder"]
    assert completed("agent", "--model", "", cwd=tmp_path) == [""]


def test_a_person_presses_tab_in_bash(program: Program) -> None:
    done = program.run("completions", "bash")
    assert done.code == 0
    written = program.home / "agent.bash"
    written.write_text(done.out)
    env = program.environment({"PS1": "$ ", "BASH_SILENCE_DEPRECATION_WARNING": "1"})
    argv = ("bash", "--norc", "--noprofile", "-i")
    with Terminal(argv, cwd=program.workspace, env=env) as terminal:
        terminal.send(f". {written} && echo sour''ced\r")
        terminal.wait_for("sourced")
        terminal.send("agent doc\t--off\t")
        terminal.wait_for("agent doctor --offline")


def words(of: argparse.ArgumentParser) -> Iterator[str]:
    """Every command and long flag."""
    for action in of._actions:
        yield from (name for name in action.option_strings if name.startswith("--"))
        if isinstance(action, argparse._SubParsersAction):
            for name, child in action.choices.items():
                yield name
                yield from words(child)


@pytest.mark.parametrize("shell", SHELLS)
def test_no_command_and_no_flag_is_forgotten(shell: str) -> None:
    known = set(re.findall(r"[\w-]+", script(PARSER, shell)))
    known |= {f"--{word}" for word in known}  # fish has them without
    assert not set(words(PARSER)) - known


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_theirs(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed here")
    file = tmp_path / "script"
    file.write_text(script(PARSER, shell))
    done = subprocess.run([program, "-n", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed here")
def test_fish_completes_flags_and_values(tmp_path: Path) -> None:
    file = tmp_path / "agent.fish"
    file.write_text(script(PARSER, "fish"))

    def offered(line: str) -> list[str]:
        code = f"source {file}; complete -C '{line}'"
        done = subprocess.run(["fish", "-c", code], capture_output=True, text=True, check=True)
        return [row.split("\t")[0] for row in done.stdout.splitlines()]

    assert offered("agent doc") == ["doctor"]
    assert offered("agent --permission-mode=pl") == ["--permission-mode=plan"]
    assert offered("agent sessions sh") == ["show"]
