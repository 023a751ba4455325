"""Listing and searching: always what the logs say, whatever happened to the index."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.errors import UserError
from agent_cli.core.events import TurnStarted, UsageChanged
from agent_cli.core.log.entries import (
    EventAdded,
    KnownBody,
    MessageAdded,
    SessionOpened,
    Titled,
    new_entry,
)
from agent_cli.core.messages import AssistantMessage, ToolMessage, UserMessage
from agent_cli.core.model import Usage
from agent_cli.storage import session_index
from agent_cli.storage.session_store import Sessions, SeveralSessions

USED = UsageChanged(model="m", step=Usage(cost=0.25), total=Usage())


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    return Sessions(tmp_path)


def write(sessions: Sessions, name: str, *bodies: KnownBody | str, workspace: str = "/w") -> None:
    """Begin or continue a session; a text is a prompt."""
    log = sessions.new(name)
    begun = log.files.log.exists()
    opened = SessionOpened(
        session=name, workspace=workspace, model="m", mode="default", program="1"
    )
    for body in (*(() if begun else (opened,)), *bodies):
        if isinstance(body, str):
            body = MessageAdded(message=UserMessage(content=body))
        log.append(new_entry(body, None))
    log.close()


def answer(text: str) -> MessageAdded:
    return MessageAdded(message=AssistantMessage(text=text))


def ids(found: Sequence[object]) -> list[str]:
    return [getattr(info, "id") for info in found]  # noqa: B009


def test_a_list_tells_what_there_is_newest_first(sessions: Sessions) -> None:
    write(sessions, "aaaa11", "first prompt", answer("yes"), EventAdded(event=USED))
    turn = TurnStarted(session_id="b", turn=3, prompt="", model="m")
    write(
        sessions, "bbbb22", "other", Titled(title="A title"), EventAdded(event=turn), workspace="/v"
    )
    second, first = sessions.index.listing()
    assert (first.id, first.name, first.messages, first.cost) == ("aaaa11", "first prompt", 2, 0.25)
    assert (second.name, second.turns, second.workspace) == ("A title", 3, "/v")
    assert ids(sessions.index.listing("/w")) == ["aaaa11"]
    assert len(sessions.index.listing(limit=1)) == 1


def test_what_is_new_is_added_to_what_was_known(sessions: Sessions) -> None:
    write(sessions, "aaaa11", "about pears", EventAdded(event=USED))
    assert sessions.index.listing()[0].cost == 0.25
    write(sessions, "aaaa11", "about plums", Titled(title="Fruit"), EventAdded(event=USED))
    (info,) = sessions.index.listing()
    assert (info.name, info.prompt, info.messages, info.cost) == ("Fruit", "about pears", 2, 0.5)
    for word in ("pears", "plums", "fruit"):
        assert ids([*sessions.index.search(word)]) == ["aaaa11"]


def test_a_deleted_session_is_not_found_any_more(sessions: Sessions) -> None:
    write(sessions, "aaaa11", "about pears")
    assert sessions.index.search("pears")
    sessions.delete("aaaa11")
    assert sessions.index.search("pears") == []
    assert sessions.index.listing() == []


@pytest.mark.parametrize("damage", ["missing", "garbage", "truncated", "older"])
def test_a_broken_index_is_made_anew(sessions: Sessions, tmp_path: Path, damage: str) -> None:
    write(sessions, "aaaa11", "about pears", answer("they are green"))
    before = sessions.index.search("green")
    file = tmp_path / "sessions.sqlite"
    content = file.read_bytes()
    for suffix in ("-wal", "-shm"):
        Path(f"{file}{suffix}").unlink(missing_ok=True)
    match damage:
        case "missing":
            file.unlink()
        case "garbage":
            file.write_bytes(os.urandom(5000))
        case "truncated":
            file.write_bytes(content[: len(content) // 2])
        case _:
            database = sqlite3.connect(file)
            database.execute("PRAGMA user_version = 0")
            database.close()
    assert sessions.index.search("green") == before


def test_a_log_that_shrank_is_read_again(sessions: Sessions, tmp_path: Path) -> None:
    write(sessions, "aaaa11", "about pears", "about plums")
    assert sessions.index.search("plums")
    log = tmp_path / "sessions" / "aaaa11.jsonl"
    log.write_bytes(b"\n".join(log.read_bytes().split(b"\n")[:2]) + b"\n")
    assert sessions.index.search("plums") == []
    assert sessions.index.search("pears")


def test_a_snippet_shows_the_words(sessions: Sessions) -> None:
    write(sessions, "aaaa11", answer("lorem " * 50 + "the needle in it" + " ipsum" * 50))
    (info,) = sessions.index.search("needl")
    assert "\x02needle\x03" in info.snippet
    assert len(info.snippet) < 200


def test_all_words_count_together_or_scattered(sessions: Sessions) -> None:
    write(sessions, "aaaa11", "red apples", answer("and green pears"))
    write(sessions, "bbbb22", "red plums")
    assert ids([*sessions.index.search("red apples")]) == ["aaaa11"]
    assert ids([*sessions.index.search("apples green")]) == ["aaaa11"]
    assert set(ids([*sessions.index.search("red")])) == {"aaaa11", "bbbb22"}
    assert sessions.index.search("red bananas") == []


@pytest.mark.parametrize("text", ['"', "*", "a AND OR", "(((", "NEAR(x", "-x", "^", ""])
def test_no_text_breaks_a_search(sessions: Sessions, text: str) -> None:
    write(sessions, "aaaa11", "hello")
    sessions.index.search(text)


def test_scripts_without_spaces_are_searched_too(sessions: Sessions) -> None:
    write(sessions, "aaaa11", "请修复这个错误 in the parser")
    (info,) = sessions.index.search("修复")
    assert "修" in info.snippet
    assert "\u200b" not in info.snippet


def test_what_tools_gave_is_not_searched(sessions: Sessions) -> None:
    result = ToolMessage(call_id="c", name="Read", content="haystack")
    write(sessions, "aaaa11", "hello", MessageAdded(message=result))
    assert sessions.index.search("haystack") == []
    assert sessions.index.listing()[0].messages == 2


def test_a_session_is_found_by_the_beginning_of_its_id_or_by_words(sessions: Sessions) -> None:
    write(sessions, "aaaa11", "red apples", workspace="/here")
    write(sessions, "bbbb22", "red plums", workspace="/there")
    assert sessions.find("aaaa").id == "aaaa11"
    assert sessions.find("plums").id == "bbbb22"
    assert sessions.find("red", "/here").id == "aaaa11"
    with pytest.raises(SeveralSessions, match="Several"):
        sessions.find("red")
    with pytest.raises(UserError, match="No session"):
        sessions.find("bananas")


def test_the_last_session_is_that_of_the_directory(sessions: Sessions) -> None:
    write(sessions, "aaaa11", "x", workspace="/here")
    write(sessions, "bbbb22", "y", workspace="/there")
    assert sessions.last("/here").id == "aaaa11"
    with pytest.raises(UserError, match="no session"):
        sessions.last("/nowhere")


def test_half_a_line_at_the_end_is_read_when_it_is_whole(
    sessions: Sessions, tmp_path: Path
) -> None:
    write(sessions, "aaaa11", "about pears", "about plums")
    log = tmp_path / "sessions" / "aaaa11.jsonl"
    content = log.read_bytes()
    log.write_bytes(content[:-30])
    assert sessions.index.search("plums") == []
    log.write_bytes(content)
    assert sessions.index.search("plums")
    assert sessions.index.listing()[0].messages == 2


@pytest.fixture
def held(sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another program is writing to the index, for longer than anybody waits."""
    monkeypatch.setattr(session_index, "READ_TIMEOUT_S", 0.1)
    monkeypatch.setattr(session_index, "REFRESH_TIMEOUT_S", 0.2)
    write(sessions, "aaaa11", "about pears")
    assert sessions.index.listing()
    other = sqlite3.connect(tmp_path / "sessions.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    yield
    other.close()


def test_while_another_program_indexes_what_is_known_is_listed(
    sessions: Sessions, held: None
) -> None:
    write(sessions, "bbbb22", "about plums")
    assert ids(sessions.index.listing()) == ["aaaa11"]
    assert ids(sessions.index.search("pears")) == ["aaaa11"]


def test_a_session_is_not_chosen_from_a_list_that_is_out_of_date(
    sessions: Sessions, held: None
) -> None:
    write(sessions, "bbbb22", "about plums")
    for choose in (lambda: sessions.last("/w"), lambda: sessions.find("pears")):
        with pytest.raises(UserError, match="Another agent is updating the session list"):
            choose()


@pytest.mark.parametrize("place", ["sessions.sqlite", "sessions.sqlite-wal"])
def test_an_index_that_cannot_be_written_is_told_in_a_line(
    sessions: Sessions, tmp_path: Path, place: str
) -> None:
    write(sessions, "aaaa11", "about pears")
    (tmp_path / place).mkdir()
    for use in (
        sessions.index.listing,
        lambda: sessions.index.search("pears"),
        lambda: sessions.last("/w"),
        lambda: sessions.find("pears"),
    ):
        with pytest.raises(UserError, match="Sessions can't be listed right now"):
            use()


def test_a_disk_that_is_full_does_not_cost_the_index(
    sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(sessions, "aaaa11", "about pears")
    assert sessions.index.listing()
    write(sessions, "bbbb22", *(f"plum{n} " * 50 for n in range(300)))
    with sqlite3.connect(tmp_path / "sessions.sqlite") as database:
        pages = database.execute("PRAGMA page_count").fetchone()[0]
    real = sqlite3.connect

    def small(*args: Any, **options: Any) -> sqlite3.Connection:
        found: sqlite3.Connection = real(*args, **options)
        found.execute(f"PRAGMA max_page_count = {pages}")
        return found

    monkeypatch.setattr(sqlite3, "connect", small)
    with pytest.raises(UserError, match="full"):
        sessions.index.listing()
    monkeypatch.undo()
    assert set(ids(sessions.index.listing())) == {"aaaa11", "bbbb22"}
