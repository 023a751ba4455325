"""Reasons are data: the same in every language, put into words in one place."""

import ast
import json
import string
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from agent_cli.core.inbox import ApprovalRequest, Step
from agent_cli.safety import sensitive
from agent_cli.safety.impact.impact_summary import Impact, Note, Touched
from agent_cli.safety.oddities import oddities
from agent_cli.safety.paths import PathProblem, Workspace
from agent_cli.safety.reason_texts import TEXTS
from agent_cli.safety.reasons import Reason, because, in_words, quote_value
from agent_cli.safety.shell import ShellContext, ShellFacts, analyse
from tests.kit.program import ROOT
from tests.kit.tongue import foreign_tongue

CASES = Path(__file__).parents[2] / "cases" / "shell_cases.jsonl"
COMMANDS = [json.loads(line)["command"] for line in CASES.read_text().splitlines()]
PLACE = ShellContext("/srv/proj", ("/srv/proj",), "/home/u")


def reasons(facts: ShellFacts) -> list[Reason]:
    return [*facts.unproven, *facts.sensitive, *facts.dangers, *facts.catastrophic]


def test_a_command_is_judged_alike_in_every_language() -> None:
    plain = [analyse(command, PLACE) for command in COMMANDS]
    with foreign_tongue():
        assert plain == [analyse(command, PLACE) for command in COMMANDS]


def test_every_reason_of_the_shell_has_words() -> None:
    for reason in {each for command in COMMANDS for each in reasons(analyse(command, PLACE))}:
        assert reason.code in TEXTS
        assert reason.english()
        with foreign_tongue():
            assert "⟦" in in_words(reason)


def test_every_code_has_a_text_and_every_text_a_code() -> None:
    made = set()
    for path in (ROOT / "agent_cli").rglob("*.py"):
        if path.name != "reason_texts.py":
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    made.add(node.value)
                if _is_reason(node) and isinstance(node.args[0], ast.Constant):
                    assert node.args[0].value in TEXTS, (path, node.lineno)
                    _has_values(node, path)
    tables = (table for name, table in vars(sensitive).items() if name.isupper())
    made |= {code for table in tables if isinstance(table, dict) for code in table.values()}
    made |= {kind.replace(" ", "_") for kind in made} | {script.lower() for script in made}
    assert sorted(set(TEXTS) - made) == []


def _is_reason(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "because"
        and bool(node.args)
    )


def _has_values(node: ast.Call, path: Path) -> None:
    """A reason is given exactly the values that its text names."""
    assert isinstance(node.args[0], ast.Constant)
    text = TEXTS[node.args[0].value]
    texts = (text,) if isinstance(text, str) else text
    named = {name for each in texts for _, name, _, _ in string.Formatter().parse(each) if name}
    given = {keyword.arg for keyword in node.keywords if keyword.arg}
    if isinstance(text, tuple):
        named.add("n")
    assert named == given, (path, node.lineno)


def test_a_reason_within_a_reason_is_said_in_the_same_language() -> None:
    reason = because("protected_path", path=".git/x", why=because("git_hooks"))
    assert str(reason) == ".git/x is protected (git runs hooks and helpers from here)"
    with foreign_tongue():
        assert in_words(reason) == (
            "⟦.git/x is protected (⟦git runs hooks and helpers from here⟧)⟧"
        )
        assert str(reason) == ".git/x is protected (git runs hooks and helpers from here)"


def test_a_number_chooses_its_form() -> None:
    assert str(because("files", n=1)) == "1 file"
    assert in_words(because("files", n=1_000)) == "1,000 files"


def test_a_reason_goes_through_json_and_back() -> None:
    adapter = TypeAdapter(Reason)
    reason = because("at_least", things=because("files", n=3))
    assert adapter.validate_json(adapter.dump_json(reason)) == reason
    assert hash(adapter.validate_json(adapter.dump_json(reason))) == hash(reason)


def test_a_question_tells_programs_its_reasons_in_english_with_their_codes() -> None:
    request = ApprovalRequest(
        id="ask-1",
        call_id="c",
        tool="Bash",
        title="rm x",
        reasons=(because("removes_directories"), quote_value("a hook's own words")),
        codes=("removes_directories", "quoted"),
        consequences=(because("deletes", things=because("files", n=1)),),
        steps=(Step(text="rm x", note=(because("changes_nothing"),)),),
        undo=because("undo_keeps", n=1),
    )
    with foreign_tongue():
        told = json.loads(request.model_dump_json())
    assert told["reasons"] == ["rm deletes whole directories", "a hook's own words"]
    assert told["codes"] == ["removes_directories", "quoted"]
    assert told["consequences"] == ["deletes 1 file"]
    assert told["steps"] == [{"text": "rm x", "note": "changes nothing"}]
    assert told["undo"] == "the file can be restored with /undo"
    read_again = ApprovalRequest.model_validate(told)
    assert str(read_again.reasons[0]) == "rm deletes whole directories"


@pytest.mark.parametrize("verb", ["deletes", "moves", "changes_modes"])
@pytest.mark.parametrize("counts", [(1, 1), (3, 2), (3, 3)])
@pytest.mark.parametrize("at_least", [True, False])
def test_what_is_touched_is_told_in_the_language_of_the_interface(
    verb: str, counts: tuple[int, int], at_least: bool
) -> None:
    files, some = counts
    touched = Touched(
        verb,
        ("rm",),
        ("/x",),
        files=files,
        directories=2,
        bytes=10,
        not_in_git=some,
        uncommitted=some,
        outside=some,
        at_least=at_least,
        not_in_git_names=("x",),
    )
    unknown = because("named", name="rm y", why=because("no_time"))
    lines = Impact((touched,), (Note(("rm",), quote_value("so")),), (unknown,)).lines()
    with foreign_tongue():
        assert all(in_words(line).startswith("⟦") for line in lines)


def test_a_path_that_means_no_file_says_why(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    workspace = Workspace(str(tmp_path))
    for path in ("", "a\0b", "x" * 5000, "circle"):
        with foreign_tongue(), pytest.raises(PathProblem) as caught:
            workspace.resolve(path)
        assert "⟦" not in str(caught.value)
        with foreign_tongue():
            assert "⟦" in in_words(caught.value.reason)


def test_oddities_are_the_same_in_every_language() -> None:
    odd = "p\u0430y \u202e \x1b[0m https://good.com@evil.com ｐａｙ xn--80ak6aa92e.com http://b\u0430d.io"
    plain = oddities(odd)
    assert len(plain) > 5
    with foreign_tongue():
        assert oddities(odd) == plain
        assert all(in_words(warning).startswith("⟦") for warning in plain)
