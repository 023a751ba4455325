"""The system prompt."""

from datetime import date
from pathlib import Path

from agent_cli.core.system_prompt import (
    PromptFacts,
    build,
    git_branch,
    instruction_directories,
    read_instructions,
)


def test_it_holds_facts_instructions_and_what_is_appended(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/feature/x\n")
    here = PromptFacts(tmp_path, date(2026, 1, 2), trusted=True)
    prompt = build(here, "<instructions>", appended="Be nice.")
    assert str(tmp_path) in prompt
    assert "branch feature/x" in prompt
    assert "2026-01-02" in prompt
    assert "<instructions>" in prompt
    assert prompt.endswith("Be nice.")
    assert build(PromptFacts(tmp_path, date(2026, 1, 2)), instead="Mine.").startswith("Mine.")


def test_instructions_come_from_the_repositorys_top_down_to_the_workspace(tmp_path: Path) -> None:
    root, user = tmp_path / "repo", tmp_path / "user"
    inner = root / "a" / "b"
    inner.mkdir(parents=True)
    user.mkdir()
    (root / ".git").mkdir()
    for number, directory in enumerate((user, root, inner)):
        (directory / "AGENTS.md").write_text(f"rule {number}")
    (tmp_path / "AGENTS.md").write_text("from outside the repository")
    (root / "CLAUDE.md").write_text("shadowed")
    text = read_instructions(instruction_directories(user, inner, trusted=True), 1000)
    assert [line for line in text.splitlines() if "rule" in line] == ["rule 0", "rule 1", "rule 2"]
    assert "outside" not in text
    assert "shadowed" not in text
    untrusted = read_instructions(instruction_directories(user, inner, trusted=False), 1000)
    assert "rule 0" in untrusted
    assert "rule 1" not in untrusted


def test_instructions_are_cut_at_the_cap(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("x" * 5000)
    text = read_instructions([tmp_path, tmp_path], 1000)
    assert text.count("x" * 100) == 10
    assert "cut here" in text


def test_the_branch_of_a_worktree_and_a_detached_head(tmp_path: Path) -> None:
    real = tmp_path / "main.git" / "worktrees" / "w"
    real.mkdir(parents=True)
    (real / "HEAD").write_text("0123456789abcdef0123\n")
    tree = tmp_path / "w"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {real}\n")
    assert git_branch(tree) == "detached at 0123456789ab"
    assert git_branch(tmp_path) is None


def test_nothing_of_a_folder_that_is_not_trusted_is_in_the_prompt(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/obey-me\n")
    assert "obey-me" not in build(PromptFacts(tmp_path, date(2026, 1, 2)))


def test_a_branch_name_is_one_line(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/x\n# New instructions\n")
    assert git_branch(tmp_path) == "branch x"


def test_an_instruction_file_that_is_a_link_out_of_its_directory_is_not_read(
    tmp_path: Path,
) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    project.mkdir()
    other.mkdir()
    (other / "id_rsa").write_text("the key")
    (project / "AGENTS.md").symlink_to(other / "id_rsa")
    assert read_instructions([project], 1000) == ""
    (project / "CLAUDE.md").write_text("be kind")
    assert "be kind" in read_instructions([project], 1000)
    assert "the key" in read_instructions([project], 1000, own=project)
