"""Prompts kept for the next session."""

import os
import stat
from pathlib import Path

import pytest

from agent_cli.safety.redact import Redactor
from agent_cli.storage.prompt_history import PromptHistory

REDACT = Redactor({"TOKEN": "hunter2hunter2"}).redact


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "prompts" / "p.jsonl"


def test_what_was_asked_comes_back_in_another_session(path: Path) -> None:
    PromptHistory(path, REDACT).add("one\ntwo")
    PromptHistory(path, REDACT).add("你好")
    assert PromptHistory(path, REDACT).entries() == ("one\ntwo", "你好")


def test_a_session_sees_what_another_one_adds(path: Path) -> None:
    mine, other = PromptHistory(path, REDACT), PromptHistory(path, REDACT)
    assert mine.entries() == ()
    other.add("hello")
    assert mine.entries() == ("hello",)


def test_a_prompt_stands_once_where_it_was_used_last(path: Path) -> None:
    history = PromptHistory(path, REDACT)
    for text in ("a", "b", "b", "a"):
        history.add(text)
    assert history.entries() == ("b", "a")


def test_it_is_bounded_in_memory_and_on_disk(path: Path) -> None:
    history = PromptHistory(path, REDACT, limit=10)
    for number in range(50):
        history.add(f"prompt {number}")
    assert history.entries() == tuple(f"prompt {number}" for number in range(40, 50))
    assert len(path.read_text().splitlines()) <= 20
    history.add("x" * 1_000_000)
    assert len(history.entries()[-1]) < 21_000


def test_secrets_are_not_kept(path: Path) -> None:
    history = PromptHistory(path, REDACT)
    history.add("use hunter2hunter2 and ghp_abcdefghijklmnopqrstuvwxyz0123456789AB")
    text = path.read_text()
    assert "hunter2" not in text
    assert "ghp_abcdef" not in text


def test_only_its_owner_can_read_it(path: Path) -> None:
    PromptHistory(path, REDACT).add("x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_broken_lines_are_passed_over(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b'"good"\n{broken\n\xff\xfe\n42\n"also good"\n')
    assert PromptHistory(path, REDACT).entries() == ("good", "also good")


def test_a_link_in_its_place_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir(parents=True)
    target = tmp_path / "target"
    target.write_text('"stolen"\n')
    path.symlink_to(target)
    history = PromptHistory(path, REDACT)
    assert history.entries() == ()
    history.add("x")
    assert target.read_text() == '"stolen"\n'


def test_each_project_has_its_own(tmp_path: Path) -> None:
    for name in ("a", "b"):
        PromptHistory.of_project(tmp_path, tmp_path / name, REDACT).add(name)
    assert PromptHistory.of_project(tmp_path, tmp_path / "a", REDACT).entries() == ("a",)


def test_what_cannot_be_written_is_kept_for_the_session(path: Path) -> None:
    path.parent.parent.mkdir(parents=True)
    path.parent.write_text("a file where the directory belongs")
    history = PromptHistory(path, REDACT)
    history.add("first")
    history.add("second")
    assert history.entries() == ("first", "second")
    path.parent.unlink()
    history.add("third")
    assert history.entries() == ("first", "second", "third")


def test_nothing_is_read_again_when_nobody_else_has_written(path: Path) -> None:
    mine, other = PromptHistory(path, REDACT), PromptHistory(path, REDACT)
    for text in ("one", "two"):
        mine.add(text)
    kept = path.stat()
    path.write_bytes(b"\n" * kept.st_size)  # whoever reads it again finds nothing
    os.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    mine.add("three")
    assert mine.entries() == ("one", "two", "three")
    other.add("four")
    mine.add("five")
    assert mine.entries() == ("three", "four", "five")
