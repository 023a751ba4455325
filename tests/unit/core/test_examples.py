"""Examples of rules, as they are checked at load."""

from pathlib import Path

import pytest

from agent_cli.config.layers import load
from agent_cli.core.deciding.examples import wrong_example
from agent_cli.core.deciding.rules import Rule
from agent_cli.core.errors import UserError
from agent_cli.core.policy import Effect


@pytest.mark.parametrize(
    ("rule", "match", "not_match"),
    [
        ("Bash(npm run test *)", ["npm run test a", "npm run 'test' a b"], ["npm run testing"]),
        ("Bash(npm test)", ["npm test"], ["npm test x", "npm test > f", "npm test; rm x"]),
        ("Bash(git log *)", ["git log -1"], ["git logout", "echo git log"]),
        ("Edit(docs/**)", ["docs/a/b.md"], ["docs-evil/a", "src/a"]),
        ("Edit(~/notes/**)", ["~/notes/a"], ["notes/a"]),
        ("Read(/etc/hosts)", ["/etc/hosts"], ["etc/hosts"]),
        ("WebFetch(domain:*.python.org)", ["docs.python.org"], ["python.org.evil.com"]),
    ],
)
def test_examples_that_hold(rule: str, match: list[str], not_match: list[str]) -> None:
    assert wrong_example(Rule.parse(rule), Effect.ALLOW, match, not_match) is None
    for text in match:
        assert wrong_example(Rule.parse(rule), Effect.ALLOW, not_match=[text])
    for text in not_match:
        assert wrong_example(Rule.parse(rule), Effect.ALLOW, match=[text])


def test_a_deny_rule_matches_a_command_anywhere_in_a_line() -> None:
    rule = Rule.parse("Bash(git push *)")
    hidden = ["cd x && git push", "env A=1 git push -f", "bash -c 'git push'"]
    assert wrong_example(rule, Effect.DENY, match=hidden, not_match=["git pull"]) is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            'allow = [{ rule = "Bash(npm run test *)", match = ["npm run testing"] }]',
            "npm run testing",
        ),
        ('deny = [{ rule = "Edit(docs/**)", not_match = ["docs/a"] }]', "docs/a"),
        ('allow = [{ rule = "Bash(" }]', "Bash("),
    ],
)
def test_a_violated_example_names_file_rule_and_example(
    line: str, said: str, tmp_path: Path
) -> None:
    user = tmp_path / "config.toml"
    user.write_text(f"[permissions]\n{line}\n")
    with pytest.raises(UserError) as caught:
        load(user_file=user, project_file=None, environment={}, flags={})
    assert str(user) in caught.value.message
    assert said in caught.value.message
    assert caught.value.exit_code == 2


def test_rules_with_and_without_examples_stand_side_by_side(tmp_path: Path) -> None:
    user = tmp_path / "config.toml"
    user.write_text('[permissions]\nallow = ["Bash(a)", { rule = "Bash(b *)", match = ["b c"] }]\n')
    loaded = load(user_file=user, project_file=None, environment={}, flags={})
    assert loaded.settings.permissions.texts(Effect.ALLOW) == ("Bash(a)", "Bash(b *)")
