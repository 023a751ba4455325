"""Reasons in another language: nothing is decided by their words, and their English is known."""

import json
from pathlib import Path

import pytest

from agent_cli.lib.language import english
from agent_cli.safety.blast.radius import BlastRadius, Note, Touched
from agent_cli.safety.oddities import oddities
from agent_cli.safety.paths import PathProblem, Workspace
from agent_cli.safety.shell import Place, ShellFacts, analyse, default_effect
from tests.kit.tongue import foreign_tongue

CASES = Path(__file__).parents[2] / "cases" / "shell_cases.jsonl"
COMMANDS = [json.loads(line)["command"] for line in CASES.read_text().splitlines()]
PLACE = Place("/srv/proj", ("/srv/proj",), "/home/u")


def reasons(facts: ShellFacts) -> list[str]:
    return [*facts.unproven, *facts.sensitive, *facts.dangers, *facts.catastrophic]


def test_a_command_is_judged_alike_in_every_language() -> None:
    plain = [analyse(command, PLACE) for command in COMMANDS]
    with foreign_tongue():
        foreign = [analyse(command, PLACE) for command in COMMANDS]
    for one, other in zip(plain, foreign, strict=True):
        assert default_effect(one) == default_effect(other)
        assert (one.writes, one.reads, one.unresolved) == (
            other.writes,
            other.reads,
            other.unresolved,
        )
        assert reasons(one) == [english(reason) for reason in reasons(other)]
        assert all(reason.startswith("⟦") for reason in reasons(other)), reasons(other)


@pytest.mark.parametrize("verb", ["deletes", "moves away", "changes the mode of"])
@pytest.mark.parametrize("counts", [(1, 1), (3, 2), (3, 3)])
@pytest.mark.parametrize("at_least", [True, False])
def test_what_is_touched_is_told_in_the_persons_language(
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
    radius = BlastRadius((touched,), (Note(("rm",), "so"),), ("rm y: not known",))
    plain = radius.lines()
    with foreign_tongue():
        foreign = radius.lines()
    assert plain == tuple(map(english, foreign))
    assert [line for line in foreign if not line.startswith("⟦")] == ["so"]


def test_a_path_that_means_no_file_says_so_in_the_persons_language(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    workspace = Workspace(str(tmp_path))
    for path in ("", "a\0b", "x" * 5000, "circle"):
        with foreign_tongue(), pytest.raises(PathProblem) as caught:
            workspace.resolve(path)
        said = str(caught.value)
        with pytest.raises(PathProblem) as plainly:
            workspace.resolve(path)
        assert said.startswith("⟦")
        assert english(said) == str(plainly.value)


def test_oddities_are_named_in_the_persons_language() -> None:
    odd = "p\u0430y \u202e \x1b[0m https://good.com@evil.com ｐａｙ xn--80ak6aa92e.com http://b\u0430d.io"
    plain = oddities(odd)
    with foreign_tongue():
        foreign = oddities(odd)
    assert len(plain) > 5
    assert plain == tuple(map(english, foreign))
    assert all(warning.startswith("⟦") for warning in foreign)
