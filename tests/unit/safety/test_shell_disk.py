"""What is proven only because of what lies on the disk, or lies not."""

from pathlib import Path

import pytest

from agent_cli.safety.shell import ShellContext, analyse, place_on_disk
from tests.kit.default_decision import default_effect


def effect(command: str, root: Path) -> str:
    place = place_on_disk(ShellContext(str(root), (str(root),), "/home/u"))
    return default_effect(analyse(command, place))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("old", "new/deep"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.txt").write_text("a\n")
    return tmp_path.resolve()


@pytest.mark.parametrize("command", ["diff -r old new", "diff old new", "diff -rq new old"])
def test_directories_are_compared_unless_a_link_is_in_them(root: Path, command: str) -> None:
    assert effect(command, root) == "allow"
    (root / "new/deep/key").symlink_to("/home/u/.ssh/id_rsa")
    assert effect(command, root) == "ask"
    assert effect(command.replace("diff", "diff --no-dereference"), root) == "allow"


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("cargo --version", "rust-toolchain.toml"),
        ("rustc -V", "rust-toolchain"),
        ("go version", "go.mod"),
    ],
)
def test_a_version_is_asked_for_unless_the_project_chooses_the_program(
    root: Path, command: str, file: str
) -> None:
    assert effect(command, root) == "allow"
    (root / file).write_text("")
    assert effect(command, root) == "ask"
    assert effect(f"cd new/deep && {command}", root) == "ask"


@pytest.mark.parametrize("name", ["plain", "od[d]", "st*r", "wh?t", "[!x]"])
def test_a_link_is_seen_in_a_folder_of_any_name(tmp_path: Path, name: str) -> None:
    folder = (tmp_path / name).resolve()
    folder.mkdir()
    (folder / "a.md").write_text("x")
    assert effect("cat *.md", folder) == "allow"
    assert effect('for f in *.md; do cat "$f"; done', folder) == "ask"
    (folder / "b.md").symlink_to("/etc/hostname")
    assert effect("cat *.md", folder) == "ask"
    assert effect("cat [^a].md", folder) == "ask"


@pytest.mark.parametrize(
    "command",
    ["rg -uuu . .", "rg .", "rg --hidden x sub", "grep -r x", "grep -rn x sub", "diff -r sub old",
     "find . -exec cat {} +", "find sub -type f -exec head {} \\;"],
)  # fmt: skip
def test_a_tree_with_a_secret_in_it_is_read_in_a_sandbox_only(root: Path, command: str) -> None:
    (root / "sub").mkdir()
    (root / "sub/a").write_text("x")
    place = place_on_disk(ShellContext(str(root), (str(root),), "/home/u"))
    secret = "secret_within"
    assert secret not in [reason.code for reason in analyse(command, place).needs_sandbox]
    (root / "sub/server.key").write_text("x")
    facts = analyse(command, place)
    assert not facts.unproven and not facts.sensitive
    assert secret in [reason.code for reason in facts.needs_sandbox]
    assert facts.trees
