"""The collected cases: what is allowed, asked and denied, with one gate without exception."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agent_cli.safety.shell import ShellContext, ShellFacts, analyse, bash_accepts
from agent_cli.safety.shell.shell_facts import lexical
from tests.kit.default_decision import default_effect

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "cases" / "shell_cases.jsonl").read_text().splitlines()
]
CERTAIN = [index for index, case in enumerate(CASES) if not case.get("debatable")]
NAMES = {"allow": "allow", "ask": "confirm", "deny": "deny"}


def place_of(case: dict[str, Any]) -> ShellContext:
    links = {}
    for step in case.get("setup", []):
        name, target = step["symlink"]
        links[f"/srv/proj/{name}"] = target.replace("{HOME}", "/home/u")

    def resolve(path: str) -> str:
        path = lexical(path)
        for link, target in links.items():
            if path == link or path.startswith(link + "/"):
                path = target + path[len(link) :]
        return path

    return ShellContext("/srv/proj", ("/srv/proj",), "/home/u", resolve=resolve)


@cache
def judged(index: int) -> tuple[ShellFacts, str]:
    case = CASES[index]
    facts = analyse(case["command"], place_of(case))
    effect = NAMES[default_effect(facts)]
    if effect == "allow" and not bash_accepts(case["command"]):
        effect = "confirm"
    return facts, effect


@pytest.mark.parametrize("index", range(len(CASES)), ids=[case["id"] for case in CASES])
def test_the_decision_is_one_of_the_expected(index: int) -> None:
    case = CASES[index]
    facts, effect = judged(index)
    assert effect in {case["expect"], *case.get("also_ok", [])}, facts


@pytest.mark.parametrize("index", CERTAIN, ids=[CASES[index]["id"] for index in CERTAIN])
def test_written_files_are_found(index: int) -> None:
    assert set(CASES[index].get("writes", [])) <= set(judged(index)[0].writes)


@pytest.mark.parametrize("expect", ["allow", "deny"])
def test_nearly_all_expected_answers_are_given_exactly(expect: str) -> None:
    wanted = [index for index, case in enumerate(CASES) if case["expect"] == expect]
    given = [index for index in wanted if judged(index)[1] == expect]
    assert len(given) / len(wanted) >= 0.98


def test_nothing_is_allowed_unless_the_case_lists_it() -> None:
    wrong = [
        case["id"]
        for index, case in enumerate(CASES)
        if judged(index)[1] == "allow" and "allow" not in {case["expect"], *case.get("also_ok", [])}
    ]
    assert wrong == []
