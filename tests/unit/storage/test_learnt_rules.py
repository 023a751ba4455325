"""Rules learnt from answers, on disk."""

import json
import stat
from pathlib import Path

import pytest

from agent_cli.core.deciding.rules import Rule
from agent_cli.storage.learnt_rules import LearntRules


def test_what_is_kept_is_found_again_for_this_workspace_only(tmp_path: Path) -> None:
    LearntRules(tmp_path / "rules", "/srv/a").keep("Bash(npm test)")
    LearntRules(tmp_path / "rules", "/srv/a").keep("Bash(npm test)")
    LearntRules(tmp_path / "rules", "/srv/a").keep("Edit(docs/a b.md)")
    learnt = LearntRules(tmp_path / "rules", "/srv/a").load()
    assert [rule.text for rule in learnt.rules.allow] == ["Bash(npm test)", "Edit(docs/a b.md)"]
    assert learnt.warnings == ()
    assert LearntRules(tmp_path / "rules", "/srv/b").load().rules.allow == ()


def test_only_the_owner_can_read_them(tmp_path: Path) -> None:
    rules = LearntRules(tmp_path / "rules", "/srv/a")
    rules.keep("Bash(npm test)")
    assert stat.S_IMODE(rules.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(rules.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '"x"', '{"effect": "allow", "rule": "Bash(", "workspace": "/srv/a"}',
     '{"effect": "maybe", "rule": "Bash", "workspace": "/srv/a"}',
     '{"effect": "allow", "rule": "Bash", "workspace": "/srv/b"}',
     '{"effect": "allow", "workspace": "/srv/a"}'],
)  # fmt: skip
def test_a_broken_file_allows_nothing_and_says_so_while_denials_stay(
    line: str, tmp_path: Path
) -> None:
    rules = LearntRules(tmp_path / "rules", "/srv/a")
    rules.keep("Bash(npm test)")
    denial = {"effect": "deny", "rule": "Bash(git push *)", "workspace": "/srv/a"}
    with rules.path.open("a") as file:
        file.write(f"{line}\n{json.dumps(denial)}\n")
    learnt = rules.load()
    assert learnt.rules.allow == ()
    assert learnt.rules.deny == (Rule.parse("Bash(git push *)"),)
    assert str(rules.path) in learnt.warnings[0]
    assert "line 2" in learnt.warnings[0]


def test_a_link_or_a_huge_file_is_not_read(tmp_path: Path) -> None:
    rules = LearntRules(tmp_path, "/srv/a")
    rules.path.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_text("")
    assert rules.load().warnings
    rules.path.unlink()
    rules.path.write_bytes(b"\n" * 1_000_001)
    assert "larger" in rules.load().warnings[0]
