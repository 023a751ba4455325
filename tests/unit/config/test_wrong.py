"""What is said about a wrong value, in whatever language."""

from typing import Any

import pytest
from pydantic import ValidationError

from agent_cli.config.schema import Settings
from agent_cli.config.wrong import expectation
from tests.kit.tongue import foreign_tongue

WRONG: list[dict[str, Any]] = [
    {"model": 1},
    {"limits": {"steps": "many"}},
    {"limits": {"steps": 0}},
    {"limits": {"steps": 1.5}},
    {"limits": {"retries": 21}},
    {"limits": {"idle_seconds": 0}},
    {"limits": {"idle_seconds": "long"}},
    {"limits": {"idle_seconds": []}},
    {"limits": []},
    {"context": {"automatic": "maybe"}},
    {"context": {"automatic": []}},
    {"context": {"compact_at": 0.05}},
    {"permissions": {"deny": "Bash"}},
    {"hooks": [{"on": "before_call", "command": ""}]},
    {"hooks": [{"on": "before_call"}]},
    {"mode": "never"},
    {"ui": "never"},
    {"models": []},
]


@pytest.mark.parametrize("settings", WRONG, ids=str)
def test_another_language_says_of_a_wrong_value_what_english_says(
    settings: dict[str, Any],
) -> None:
    with pytest.raises(ValidationError) as raised:
        Settings.model_validate(settings)
    for problem in raised.value.errors(include_url=False):
        with foreign_tongue():
            said = expectation(problem)
        assert said.startswith("⟦")
        assert said.replace("⟦", "").replace("⟧", "") == expectation(problem)
