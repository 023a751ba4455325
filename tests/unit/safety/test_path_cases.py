"""Every case of the path corpus, as far as a path alone decides it."""

import os
from pathlib import Path

import pytest

from agent_cli.safety.paths import PathFacts, PathProblem, ResolvedPath, Workspace
from tests.kit.path_cases import CASES, Case, Unsuitable, races, set_up


def decision(workspace: Workspace, path: str, op: str) -> tuple[str, PathFacts | None]:
    """What the default mode makes of the facts."""
    try:
        resolved = workspace.resolve(path)
    except PathProblem:
        return "error", None
    facts = workspace.facts(resolved)
    writes = op in {"write", "edit"}
    return (_writing(resolved, facts, op) if writes else _reading(resolved, facts, op)), facts


def _writing(path: ResolvedPath, facts: PathFacts, op: str) -> str:
    if facts.own or facts.special:
        return "deny"
    if path.is_directory or (op == "edit" and not path.exists):
        return "error"
    return "confirm"


def _reading(path: ResolvedPath, facts: PathFacts, op: str) -> str:
    if path.kind and not path.is_directory:
        return "error"
    if facts.secret or facts.own or facts.special or not facts.inside:
        return "confirm"
    if not path.exists or path.is_directory != (op == "list"):
        return "error"
    return "allow" if os.access(path.real, os.R_OK) else "error"


def needs_the_tool(case: Case) -> bool:
    """Whether the error lies in the content or comes later than the decision about the path."""
    return bool(races(case)) or ("args" in case and "must_not_change" in case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_path_case(case: Case, tmp_path: Path) -> None:
    try:
        place = set_up(case, tmp_path)
    except Unsuitable as lacking:
        pytest.skip(f"needs {lacking}")
    if case["id"] == "unreadable-file" and os.geteuid() == 0:
        pytest.skip("root reads everything")
    workspace = Workspace(str(place.workspace), home=str(place.home))
    made, facts = decision(workspace, place.fill(case["path"]), case["op"])
    expected = {case["expect"], *case.get("also_ok", ())}
    if needs_the_tool(case):
        expected.add("confirm")
    assert made in expected
    if case.get("protected"):
        assert facts is not None
        assert facts.protected or facts.own
