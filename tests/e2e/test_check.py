"""`agent check`, the decision explained: every collected case through the real program."""

import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agent_cli.cli import run
from tests.kit.path_cases import CASES as PATH_CASES
from tests.kit.path_cases import Case, Unsuitable, set_up
from tests.kit.program import Program

SHELL_CASES: list[Case] = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "shell_cases.jsonl").read_text().splitlines()
]
NAMES = {"allow": "allow", "confirm": "ask", "deny": "deny"}
HYPOTHETICAL = ("--workspace", "/srv/proj", "--home", "/home/u", "--assume-trusted")
TOOLS = {"read": "Read", "write": "Write", "list": "ListFiles"}

Ask = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Ask:
    """Runs `agent check --jsonl` in this process."""
    monkeypatch.setenv("HOME", str(tmp_path))

    def asked(lines: Iterable[Mapping[str, Any]], *flags: str) -> list[dict[str, Any]]:
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert run(["check", "--jsonl", *flags]) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return asked


def expected(case: Case) -> set[str]:
    return {NAMES[name] for name in (case["expect"], *case.get("also_ok", [])) if name in NAMES}


def test_every_shell_case_through_the_real_program(program: Program) -> None:
    cases = [case for case in SHELL_CASES if "setup" not in case]
    lines = "".join(json.dumps({"id": c["id"], "command": c["command"]}) + "\n" for c in cases)
    done = program.run("check", "--jsonl", *HYPOTHETICAL, stdin=lines, timeout=120)
    assert done.code == 0, done.err
    answers = done.events
    assert [answer["id"] for answer in answers] == [case["id"] for case in cases]
    pairs = list(zip(cases, answers, strict=True))
    wrong = [c["id"] for c, a in pairs if a["effect"] == "allow" and "allow" not in expected(c)]
    assert wrong == []
    for name in ("allow", "deny"):
        wanted = [answer["effect"] for case, answer in pairs if case["expect"] == name]
        assert wanted.count(name) / len(wanted) >= 0.98
    for case, answer in pairs:
        if not case.get("debatable"):
            assert set(case.get("writes", ())) <= set(answer["writes"]), case["id"]


@pytest.mark.parametrize(
    "case", [c for c in SHELL_CASES if "setup" in c], ids=lambda c: str(c["id"])
)
def test_links_are_seen_in_a_folder_that_exists(case: Case, ask: Ask, tmp_path: Path) -> None:
    place = set_up(case, tmp_path / "x")
    flags = ("--workspace", str(place.workspace), "--home", str(place.home), "--assume-trusted")
    (answer,) = ask([{"id": 1, "command": case["command"]}], *flags)
    assert answer["effect"] in expected(case)


@pytest.mark.parametrize(
    "case", [c for c in PATH_CASES if c["op"] in TOOLS], ids=lambda c: str(c["id"])
)
def test_every_path_case(case: Case, ask: Ask, tmp_path: Path) -> None:
    tool = TOOLS[case["op"]]
    try:
        place = set_up(case, tmp_path / "x")
    except Unsuitable as lacking:
        pytest.skip(f"needs {lacking}")
    if case["id"] == "unreadable-file" and os.geteuid() == 0:
        pytest.skip("root reads everything")
    path = place.fill(case["path"])
    arguments = {"file_path": path, "path": path, "content": "x"}
    flags = ("--workspace", str(place.workspace), "--home", str(place.home), "--assume-trusted")
    (answer,) = ask([{"id": 1, "tool": tool, "arguments": arguments}], *flags)
    if case["expect"] == "error":
        assert answer["effect"] != "allow" or "allow" in expected(case)
    else:
        assert answer["effect"] in expected(case)


def test_lines_that_cannot_be_answered(ask: Ask) -> None:
    lines: list[Any] = [
        {"id": 1, "command": "ls"},
        {"id": 2, "nothing": 1},
        [],
        {"id": 4, "tool": "Nope", "arguments": {}},
        {"id": 5, "tool": "Read", "arguments": {}},
        {"id": 6, "command": 7},
        {"id": 7, "command": "a\0b"},
        {"id": 8, "tool": "Read", "arguments": '{"file_path": "a"}'},
    ]
    answers = ask(lines, *HYPOTHETICAL)
    assert answers[0]["effect"] == "allow"
    assert answers[1]["id"] == 2
    assert "error" in answers[1]
    assert answers[2] == {"id": None, "error": answers[2]["error"]}
    assert [answer.get("effect") for answer in answers[3:]] == ["deny"] * 4 + ["allow"]
    assert "Nope" in answers[3]["reasons"][0]
    assert "file_path" in answers[4]["reasons"][0]


def test_half_a_line_is_an_error_and_the_rest_is_answered(program: Program) -> None:
    done = program.run(
        "check", "--jsonl", *HYPOTHETICAL, stdin='{"id": 1, "comm\n\n{"id": 2, "command": "ls"}'
    )
    first, second = done.events
    assert "cannot be read" in first["error"]
    assert second["effect"] == "allow"


@pytest.mark.parametrize(
    ("command", "code"), [("ls", 0), ("touch x", 10), ("rm -rf /", 11), ("'", 10)]
)
def test_the_exit_code_tells_the_decision(
    command: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", *HYPOTHETICAL, command]) == code
    assert capsys.readouterr().out.startswith({0: "allow", 10: "ask", 11: "deny"}[code])


def test_modes_and_rules_can_be_tried(capsys: pytest.CaptureFixture[str]) -> None:
    def effect(*flags: str) -> str:
        run(["check", "--json", *HYPOTHETICAL, *flags])
        return str(json.loads(capsys.readouterr().out)["effect"])

    assert effect("npm test") == "ask"
    assert effect("--allow", "Bash(npm test)", "npm test") == "allow"
    assert effect("--allow", "Bash(npm test)", "--deny", "Bash(npm *)", "npm test") == "deny"
    assert effect("--mode", "plan", "npm test") == "deny"
    assert effect("--mode", "yolo", "npm test") == "allow"


def test_it_explains_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    run(["check", *HYPOTHETICAL, "cd docs && echo x > a.md"])
    said = capsys.readouterr().out
    assert "runs    echo x" in said
    assert "writes  /srv/proj/docs/a.md" in said
    assert "because" in said


def test_nothing_is_run(program: Program) -> None:
    for command in ("touch made", "ls $(touch made)", "git status; touch made"):
        program.run("check", "--mode", "yolo", "--assume-trusted", command)
    assert not list(program.workspace.iterdir())


def test_a_folder_is_not_trusted_unless_it_is(ask: Ask, tmp_path: Path) -> None:
    (answer,) = ask([{"id": 1, "command": "ls"}], "--workspace", str(tmp_path))
    assert answer["effect"] == "ask"
    assert "folder_untrusted" in answer["codes"]


def test_tools_of_our_own_plugins_are_known(ask: Ask) -> None:
    calls = [
        ("WebFetch", {"url": "https://example.org/"}, "ask"),
        ("HttpRequest", {"url": "https://example.org/", "method": "DELETE"}, "ask"),
        ("SqlQuery", {"database": "a.db", "query": "select 1"}, "allow"),
        ("SqlQuery", {"database": "a.db", "query": "delete from t", "write": True}, "ask"),
    ]
    lines = [{"id": 1, "tool": tool, "arguments": given} for tool, given, _ in calls]
    answers = ask(lines, *HYPOTHETICAL)
    assert [answer["effect"] for answer in answers] == [effect for *_, effect in calls]
    (answer,) = ask(lines[:1], *HYPOTHETICAL, "--deny", "WebFetch(example.org)")
    assert answer["effect"] == "deny"
