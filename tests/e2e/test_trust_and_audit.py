"""`agent trust` and `agent audit` as a person uses them."""

import json
import os
import pty
import select
import subprocess

import pytest

from tests.kit.program import AGENT, Program

READS = {"calls": [{"name": "Read", "arguments": {"file_path": "a.txt"}}]}
LISTS = {"calls": [{"name": "Bash", "arguments": {"command": "ls"}}]}
KEY = "sk-audit-0123456789abcdefghijkl"


def lists(program: Program, *flags: str) -> int:
    """The exit code of a run that needs a trusted folder."""
    return program.run("-p", "go", "--model", program.script(LISTS, {"text": "ok"}), *flags).code


def test_a_folder_is_trusted_once_until_it_changes(program: Program) -> None:
    (program.workspace / "AGENTS.md").write_text("be kind")
    assert lists(program) == 4
    assert lists(program, "--trust") == 0
    assert lists(program) == 4, "--trust is for one run"
    done = program.run("trust", "--yes")
    assert done.code == 0
    assert "AGENTS.md" in done.out
    assert lists(program) == 0
    assert str(program.workspace) in program.run("trust", "--list").out
    (program.workspace / "AGENTS.md").write_text("obey me")
    done = program.run("-p", "go", "--model", program.script(LISTS, {"text": "ok"}))
    assert done.code == 4
    assert "no longer trusted" in done.err
    assert "AGENTS.md" in done.err
    assert "changed" in program.run("trust", "--list").out
    assert program.run("trust", "--yes").code == 0
    assert lists(program) == 0
    assert program.run("trust", "--remove", ".").code == 0
    assert lists(program) == 4


def test_without_a_terminal_nothing_is_trusted_unless_told(program: Program) -> None:
    done = program.run("trust", stdin="y\n")
    assert done.code == 2
    assert "--yes" in done.err
    assert lists(program) == 4


@pytest.mark.parametrize(("key", "code"), [(b"y\n", 0), (b"\n", 1), (b"n\n", 1), (b"\x04", 1)])
def test_on_a_terminal_the_default_is_no(key: bytes, code: int, program: Program) -> None:
    (program.workspace / ".agent").mkdir()
    (program.workspace / ".agent" / "x\x1b[31m.md").write_text("x")
    main, side = pty.openpty()
    process = subprocess.Popen(
        [AGENT, "trust"], cwd=program.workspace, env=program.environment(),
        stdin=side, stdout=side, stderr=side, start_new_session=True,
    )  # fmt: skip
    os.close(side)
    said = b""
    while b"[y/N]" not in said and select.select([main], [], [], 30)[0]:
        said += os.read(main, 4096)
    assert b"\x1b[31m" not in said
    os.write(main, key)
    assert process.wait(30) == code
    os.close(main)
    assert (lists(program) == 0) == (code == 0)


def test_the_audit_log_says_what_ran_and_by_whose_permission(program: Program) -> None:
    (program.workspace / "a.txt").write_text("hello\n")
    commands = ["ls", "touch made", f"echo {KEY} > out", "false"]
    calls = [{"calls": [{"name": "Bash", "arguments": {"command": c}}]} for c in commands]
    model = program.script(READS, *calls, {"text": "done"})
    flags = ("--trust", "--allow", "Bash(touch made)")
    program.run("-p", "go", "--model", model, *flags, environment={"OPENAI_API_KEY": KEY})
    records = [json.loads(line) for line in program.run("audit", "--json").out.splitlines()]
    assert [r["decision"] for r in records] == ["allow", "allow", "allow", "ask", "allow"]
    read, ls, touch, echo, false = records
    assert read["reads"] == [str(program.workspace / "a.txt")]
    assert ls["commands"] == ["ls"]
    assert ls["exit_code"] == 0
    assert touch["rule"] == "Bash(touch made)"
    assert touch["writes"] == [str(program.workspace / "made")]
    assert echo["error"] == "permission"
    assert KEY not in json.dumps(records)
    assert "secret" in echo["commands"][0]
    assert false["exit_code"] == 1
    assert all(len(r["sha256"]) == 64 and r["version"] and r["mode"] == "default" for r in records)
    assert len({r["sha256"] for r in records}) == 5


def test_the_audit_log_can_be_filtered(program: Program) -> None:
    (program.workspace / "a.txt").write_text("hello\n")
    touch = {"calls": [{"name": "Bash", "arguments": {"command": "touch made"}}]}
    program.run("-p", "go", "--model", program.script(READS, touch, {"text": "done"}))

    def shown(*flags: str) -> list[str]:
        return program.run("audit", *flags).out.splitlines()

    (session,) = {json.loads(line)["session_id"] for line in shown("--json")}
    _, newest = shown()
    assert "touch made" in newest, "newest last"
    assert len(shown("-n", "1")) == 1
    assert len(shown("--tool", "read")) == 1
    assert "touch made" in shown("--failed")[0]
    assert len(shown("--decision", "ask")) == 1
    assert len(shown("--session", session)) == 2
    assert shown("--session", "other") == []
    assert len(shown("--since", "1h")) == 2
    assert shown("--since", "2999-01-01") == []
    log = program.home / ".local" / "state" / "agent" / "audit.jsonl"
    with log.open("a") as file:
        file.write('{"time": "half')
    assert len(shown()) == 2


def test_a_time_that_is_none_is_refused(program: Program) -> None:
    done = program.run("audit", "--since", "yesterday")
    assert done.code == 2
    assert "not a time" in done.err
