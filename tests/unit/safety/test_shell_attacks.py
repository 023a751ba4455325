"""Our own harsher cases, kept as data: what an attacker who knows the table would try."""

import json
from pathlib import Path

import pytest

from agent_cli.safety.shell import ShellContext, analyse, bash_accepts
from tests.kit.default_decision import default_effect

DATA = json.loads((Path(__file__).parents[2] / "cases" / "shell_attacks.json").read_text())
PLACE = ShellContext("/srv/proj", ("/srv/proj",), "/home/u")


def effect(command: str) -> str:
    found = default_effect(analyse(command, PLACE))
    return "ask" if found == "allow" and not bash_accepts(command) else found


@pytest.mark.parametrize("command", DATA["never_allow"])
def test_is_never_allowed(command: str) -> None:
    assert effect(command) != "allow"


@pytest.mark.parametrize("command", DATA["allow"])
def test_is_allowed(command: str) -> None:
    assert effect(command) == "allow", analyse(command, PLACE).unproven


@pytest.mark.parametrize("command", DATA["deny"])
def test_is_denied(command: str) -> None:
    assert effect(command) == "deny"


@pytest.mark.parametrize("command", DATA["never_deny"])
def test_is_not_denied(command: str) -> None:
    assert effect(command) != "deny", analyse(command, PLACE).catastrophic
