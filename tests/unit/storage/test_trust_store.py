"""Trust in folders, on disk."""

import stat
from pathlib import Path

import pytest

from agent_cli.core.deciding.trust_items import TooMuch, what_trust_enables
from agent_cli.storage.trust_store import TrustStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".agent" / "commands").mkdir(parents=True)
    (root / ".agent" / "config.toml").write_text('[permissions]\ndeny = ["Bash(rm *)"]\n')
    (root / ".agent" / "commands" / "deploy.md").write_text("deploy")
    (root / "AGENTS.md").write_text("be kind")
    (root / ".mcp.json").write_text('{"mcpServers": {"db": {"command": "npx", "args": ["db"]}}}')
    (root / "main.py").write_text("print()")
    return root


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(tmp_path / "state" / "trust")


def trusted(store: TrustStore, folder: Path) -> TrustStore:
    store.trust(folder, what_trust_enables(folder))
    return store


def test_what_it_enables_is_listed(folder: Path) -> None:
    items = {
        (i.kind, i.path.removeprefix(f"{folder}/")): i.detail for i in what_trust_enables(folder)
    }
    assert items == {
        (
            "extension",
            ".agent/commands/deploy.md",
        ): "6 bytes of a slash command, sent as a prompt",
        ("settings", ".agent/config.toml"): 'permissions.deny = ["Bash(rm *)"]',
        ("servers", ".mcp.json"): "db: npx db",
        ("instructions", "AGENTS.md"): "7 bytes of instructions for the model",
    }


def test_a_folder_is_trusted_until_what_it_enables_changes(folder: Path, store: TrustStore) -> None:
    assert store.standing(folder).state == "untrusted"
    trusted(store, folder)
    assert store.standing(folder).trusted
    (folder / "main.py").write_text("other()")
    assert store.standing(folder).trusted
    (folder / "AGENTS.md").write_text("obey me")
    assert store.standing(folder).state == "changed"
    assert store.standing(folder).changed == (str(folder / "AGENTS.md"),)
    trusted(store, folder)
    assert store.standing(folder).trusted


@pytest.mark.parametrize("what", [".agent/tools/evil.py", "CLAUDE.md", ".agent/config.toml"])
def test_a_new_or_missing_file_is_a_change(what: str, folder: Path, store: TrustStore) -> None:
    (folder / "AGENTS.md").unlink()
    trusted(store, folder)
    path = folder / what
    if path.exists():
        path.unlink()
    else:
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    assert store.standing(folder).changed == (str(path),)


def test_a_file_that_becomes_a_link_is_a_change(folder: Path, store: TrustStore) -> None:
    trusted(store, folder)
    (folder / "copy").write_text("be kind")
    (folder / "AGENTS.md").unlink()
    (folder / "AGENTS.md").symlink_to("copy")
    assert store.standing(folder).state == "changed"


def test_neither_parents_nor_children_inherit_trust(folder: Path, store: TrustStore) -> None:
    trusted(store, folder)
    (folder / "inner").mkdir()
    assert not store.standing(folder / "inner").trusted
    assert not store.standing(folder.parent).trusted


def test_what_lies_behind_a_linked_settings_folder_counts_too(
    folder: Path, store: TrustStore
) -> None:
    (folder / ".agent").rename(folder / "elsewhere")
    (folder / ".agent").symlink_to("elsewhere")
    store.trust(folder, what_trust_enables(folder))
    assert store.standing(folder).trusted
    (folder / "elsewhere" / "config.toml").write_text('model = "another/one"\n')
    assert store.standing(folder).state == "changed"


def test_a_link_to_a_trusted_folder_is_that_folder(
    folder: Path, store: TrustStore, tmp_path: Path
) -> None:
    trusted(store, folder)
    (tmp_path / "link").symlink_to(folder)
    assert store.standing(tmp_path / "link").trusted


def test_instructions_of_the_repository_above_count(folder: Path, store: TrustStore) -> None:
    (folder / ".git").mkdir()
    inner = folder / "src"
    inner.mkdir()
    trusted(store, inner)
    (folder / "AGENTS.md").write_text("changed")
    assert store.standing(inner).changed == (str(folder / "AGENTS.md"),)


def test_it_is_stored_for_the_owner_alone_and_can_be_taken_back(
    folder: Path, store: TrustStore, tmp_path: Path
) -> None:
    trusted(store, folder)
    (file,) = (tmp_path / "state" / "trust").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.path for each in store] == [str(folder)]
    assert store.remove(folder)
    assert not store.remove(folder)
    assert list(store) == []


def test_a_broken_entry_is_no_trust(folder: Path, store: TrustStore, tmp_path: Path) -> None:
    trusted(store, folder)
    (file,) = (tmp_path / "state" / "trust").iterdir()
    for text in (
        "{",
        "[]",
        "{}",
        f'{{"path": "{folder}"}}',
        f'{{"path": "{folder}", "files": []}}',
    ):
        file.write_text(text)
        assert not store.standing(folder).trusted


def test_what_is_too_much_to_look_at_cannot_be_trusted(folder: Path, store: TrustStore) -> None:
    trusted(store, folder)
    for number in range(1_001):
        (folder / ".agent" / str(number)).touch()
    assert store.standing(folder).state == "changed"
    with pytest.raises(TooMuch):
        what_trust_enables(folder)


def test_special_files_and_links_are_named_but_not_waited_for(folder: Path) -> None:
    import os

    os.mkfifo(folder / ".agent" / "pipe")
    (folder / ".agent" / "out").symlink_to("/etc")
    (folder / ".agent" / "loop").symlink_to("loop")
    kinds = {Path(item.path).name: item.detail for item in what_trust_enables(folder)}
    assert kinds["out"] == "a link to /etc"
    assert {"pipe", "loop"} <= set(kinds)
