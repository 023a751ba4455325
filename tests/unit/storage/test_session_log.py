"""The log on disk: private, whole lines, long texts aside, one program at a time."""

import errno
import fcntl
import gc
import json
import os
import resource
import signal
import stat
import weakref
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.core.events import Notice, TextDelta, ThinkingDelta, ToolStarted, TurnStarted
from agent_cli.core.log.entries import (
    Entry,
    EventAdded,
    KnownBody,
    MessageAdded,
    ReplyAbandoned,
    SessionOpened,
    new_entry,
)
from agent_cli.core.log.history import read_history
from agent_cli.core.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    TextPart,
    Thinking,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from agent_cli.safety.redact import Redactor
from agent_cli.storage.payloads import GONE, MAX_BYTES
from agent_cli.storage.session_lock import SessionInUse
from agent_cli.storage.session_log import LogFiles, SessionLog, read_log
from agent_cli.storage.session_store import Sessions

OPENED = SessionOpened(session="s", workspace="/w", model="m", mode="default", program="1")
KEY = "sk-ant-api03-" + "aB3dE6gH9jK2" * 4


def said(text: str) -> MessageAdded:
    return MessageAdded(message=UserMessage(content=text))


def chain(*bodies: KnownBody) -> list[Entry]:
    entries: list[Entry] = []
    for body in (OPENED, *bodies):
        entries.append(new_entry(body, entries[-1].id if entries else None))
    return entries


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    return Sessions(tmp_path / "state")


def written(sessions: Sessions, *bodies: KnownBody, name: str = "abc123") -> SessionLog:
    log = sessions.new(name)
    for entry in chain(*bodies):
        log.append(entry)
    return log


def test_entries_come_back_as_they_were(sessions: Sessions) -> None:
    entries = chain(said("héllo\n\u2028wörld"), EventAdded(event=Notice(text="x")))
    log = sessions.new("abc123")
    for entry in entries:
        log.append(entry)
    assert log.entries() == entries
    log.close()


def test_only_the_owner_can_read_it(sessions: Sessions, tmp_path: Path) -> None:
    log = written(sessions, said("x" * (MAX_BYTES + 1)))
    log.stream(TextDelta(text="piece"), after="e")
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in (tmp_path / "state" / "sessions").rglob("*")
    }
    assert {mode for name, mode in modes.items() if not name.endswith(".files")} == {0o600}
    assert modes["abc123.files"] == 0o700
    assert stat.S_IMODE((tmp_path / "state" / "sessions").stat().st_mode) == 0o700
    log.close()


def test_half_a_line_is_passed_over_and_the_next_entry_stands_alone(sessions: Sessions) -> None:
    log = written(sessions, said("one"), said("two"))
    log.close()
    content = log.files.log.read_bytes()
    log.files.log.write_bytes(content[:-20])
    assert len(read_log(log.files)) == 2
    third = new_entry(said("three"), None)
    again = sessions.new("abc123")
    again.append(third)
    again.close()
    assert read_log(log.files)[-1] == third
    assert len(read_log(log.files)) == 3


MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(UserMessage, content=st.text(max_size=30)),
    st.builds(
        AssistantMessage,
        text=st.text(max_size=30),
        calls=st.tuples(st.builds(ToolCall, id=st.text(max_size=5), name=st.just("Read"))),
    ),
    st.builds(ToolMessage, call_id=st.text(max_size=5), name=st.just("R"), content=st.text()),
)


@given(st.lists(MESSAGES, max_size=6), st.floats(0, 1))
def test_any_beginning_of_the_bytes_reads_as_a_beginning_of_the_entries(
    tmp_path_factory: pytest.TempPathFactory, messages: list[Message], where: float
) -> None:
    files = LogFiles(tmp_path_factory.mktemp("log"), "a")
    log = SessionLog(files, str)
    entries = chain(*(MessageAdded(message=message) for message in messages))
    for entry in entries:
        log.append(entry)
    log.close()
    whole = read_log(files)
    assert len(whole) == len(entries)
    content = files.log.read_bytes()
    cut = round(where * len(content))
    files.log.write_bytes(content[:cut])
    found = read_log(files)
    assert found == whole[: len(found)]
    assert len(found) >= content[:cut].count(b"\n")
    read_history(found)


def test_long_texts_are_kept_once_beside_the_log(sessions: Sessions) -> None:
    long = "ü" * MAX_BYTES
    image = ImagePart(media_type="image/png", data="A" * (MAX_BYTES + 1))
    result = ToolMessage(call_id="c", name="Read", content=(TextPart(text="see"), image))
    log = written(sessions, said(long), said(long), MessageAdded(message=result), said("short"))
    log.close()
    assert log.files.log.stat().st_size < MAX_BYTES
    assert len(list(log.files.payloads.iterdir())) == 2
    bodies = [entry.body for entry in read_log(log.files)]
    assert bodies[1:] == [said(long), said(long), MessageAdded(message=result), said("short")]


def test_a_long_text_whose_file_is_gone_is_named(sessions: Sessions) -> None:
    log = written(sessions, said("x" * (MAX_BYTES + 1)))
    log.close()
    for file in log.files.payloads.iterdir():
        file.unlink()
    assert read_log(log.files)[-1].body == said(GONE)


def test_a_call_cannot_pass_for_a_long_text(sessions: Sessions) -> None:
    arguments = {"payloads": [[["body", "x"], "0" * 64]]}
    started = EventAdded(event=ToolStarted(call_id="c", tool="X", arguments=arguments))
    log = written(sessions, started)
    log.close()
    assert read_log(log.files)[-1].body == started


def test_secrets_do_not_reach_the_disk(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, Redactor({"OWN_KEY": "correct-horse-battery"}).redact)
    signed = Thinking(text=f"so {KEY}", vendor="x", block={"thinking": f"so {KEY}"})
    harmless = Thinking(text="hm", vendor="x", block={"thinking": "hm", "signature": "abc="})
    call = ToolCall(
        id="c1",
        name="Bash",
        arguments=json.dumps({"command": f'echo "{KEY}"\ncorrect-horse-battery'}),
    )
    log = written(
        sessions,
        said(f"use {KEY} and correct-horse-battery"),
        MessageAdded(
            message=AssistantMessage(text=KEY, thinking=(signed, harmless), calls=(call,))
        ),
        EventAdded(event=ToolStarted(call_id="c1", tool="Bash", arguments={"id": KEY})),
        ReplyAbandoned(text=f"void {KEY}"),
    )
    log.close()
    content = log.files.log.read_text()
    assert KEY not in content
    assert "correct-horse-battery" not in content
    reply = next(
        entry.body.message
        for entry in read_log(log.files)
        if isinstance(entry.body, MessageAdded) and isinstance(entry.body.message, AssistantMessage)
    )
    assert [thought.block is None for thought in reply.thinking] == [True, False]
    assert "«secret" in json.loads(reply.calls[0].arguments)["command"]


def test_a_full_disk_is_an_error_and_leaves_no_half_line(sessions: Sessions) -> None:
    log = written(sessions, said("one"))
    before = log.files.log.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 50, hard))
        with pytest.raises(OSError) as failed:
            log.append(new_entry(said("two" * 100), None))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert failed.value.errno in (errno.ENOSPC, errno.EFBIG)
    assert log.files.log.read_bytes() == before
    log.append(new_entry(said("three"), None))
    assert len(log.entries()) == 3
    log.close()


def test_two_programs_cannot_have_one_session(sessions: Sessions) -> None:
    log = written(sessions, said("one"))
    with pytest.raises(SessionInUse) as refused:
        sessions.resume("abc123")
    assert refused.value.owner == os.getpid()
    assert "--fork" in refused.value.hint
    log.close()
    sessions.resume("abc123").log.close()


def test_the_lock_of_a_killed_program_is_gone(sessions: Sessions) -> None:
    log = written(sessions, said("one"))
    log.close()
    ready_read, ready_write = os.pipe()
    child = os.fork()
    if not child:
        descriptor = os.open(log.files.log, os.O_RDWR)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(ready_write, b"x")
        os.read(os.pipe()[0], 1)
        os._exit(0)
    os.read(ready_read, 1)
    with pytest.raises(SessionInUse):
        sessions.resume("abc123")
    os.kill(child, 9)
    os.waitpid(child, 0)
    sessions.resume("abc123").log.close()
    for descriptor in (ready_read, ready_write):
        os.close(descriptor)


def test_pieces_of_an_unfinished_reply_become_an_interrupted_message(sessions: Sessions) -> None:
    started = EventAdded(event=TurnStarted(session_id="s", turn=1, prompt="go", model="big"))
    log = written(sessions, started, said("go"))
    after = log.entries()[-1].id
    log.stream(ThinkingDelta(text="hm "), after=after)
    log.stream(TextDelta(text="I will "), after=after)
    log.stream(TextDelta(text="not end"), after=after)
    _crash(log)
    messages = [placed.message for placed in sessions.resume("abc123").history.messages]
    assert messages[-1] == AssistantMessage(text="I will not end", model="big", interrupted=True)


def test_half_a_piece_is_passed_over(sessions: Sessions) -> None:
    log = written(sessions, said("go"))
    log.stream(TextDelta(text="whole "), after=log.entries()[-1].id)
    log.stream(TextDelta(text="half"), after=log.entries()[-1].id)
    _crash(log)
    content = log.files.partial.read_bytes()
    log.files.partial.write_bytes(content[:-4])
    resumed = sessions.resume("abc123")
    assert resumed.history.messages[-1].message == AssistantMessage(text="whole", interrupted=True)
    resumed.log.close()


def test_pieces_that_became_a_message_are_not_said_twice(sessions: Sessions) -> None:
    log = written(sessions, said("go"))
    after = log.entries()[-1].id
    log.stream(TextDelta(text="the reply"), after=after)
    log.append(new_entry(MessageAdded(message=AssistantMessage(text="the reply")), after))
    _crash(log)
    history = sessions.resume("abc123").history
    assert len(history.messages) == 2


def test_a_reply_that_is_whole_leaves_no_pieces(sessions: Sessions) -> None:
    log = written(sessions, said("go"))
    log.stream(TextDelta(text="the reply"), after="x")
    log.stream_ended()
    assert log.files.partial.read_bytes() == b""
    log.close()
    assert not log.files.partial.exists()


def test_a_fork_is_a_session_of_its_own(sessions: Sessions) -> None:
    log = written(sessions, said("one"), said("x" * (MAX_BYTES + 1)))
    log.stream(TextDelta(text="so far"), after=log.entries()[-1].id)
    forked = sessions.fork("abc123", "def456")  # while the first is in use
    opened = forked.history.opened
    assert opened is not None
    assert (opened.session, opened.forked_from) == ("def456", "abc123")
    texts = [placed.message for placed in forked.history.messages]
    assert texts[0] == UserMessage(content="one")
    assert texts[1] == UserMessage(content="x" * (MAX_BYTES + 1))
    assert texts[2] == AssistantMessage(text="so far", interrupted=True)
    forked.log.append(new_entry(said("only here"), forked.history.head))
    assert len(log.entries()) == 3
    log.close()
    forked.log.close()
    sessions.delete("abc123")
    assert sessions.read("def456")[2].body == said("x" * (MAX_BYTES + 1))


def test_deleting_leaves_nothing_behind(sessions: Sessions, tmp_path: Path) -> None:
    log = written(sessions, said("x" * (MAX_BYTES + 1)))
    results = tmp_path / "state" / "results" / "abc123"
    checkpoints = tmp_path / "state" / "checkpoints" / "abc123"
    for directory in (results, checkpoints):
        directory.mkdir(parents=True)
    with pytest.raises(SessionInUse):
        sessions.delete("abc123")
    log.close()
    sessions.delete("abc123")
    assert list((tmp_path / "state" / "sessions").iterdir()) == []
    assert not results.exists()
    assert not checkpoints.exists()


def test_old_sessions_are_pruned_but_never_open_ones(sessions: Sessions) -> None:
    long_ago = datetime(2020, 1, 1, tzinfo=UTC).timestamp()
    for name in ("old111", "new222"):
        written(sessions, said("x"), name=name).close()
    running = written(sessions, said("x"), name="run333")
    for name in ("old111", "run333"):
        file = LogFiles(running.files.directory, name).log
        os.utime(file, (long_ago, long_ago))
    assert sessions.prune(0) == []
    assert sessions.prune(90) == ["old111"]
    running.close()


def test_stray_files_are_neither_pruned_nor_listed(sessions: Sessions) -> None:
    log = written(sessions, said("x"), name="old111")
    log.close()
    long_ago = datetime(2020, 1, 1, tzinfo=UTC).timestamp()
    strays = [log.files.directory / name for name in ("abc.bak.jsonl", "x copy.jsonl", ".jsonl")]
    for file in (*strays, log.files.log):
        file.write_bytes(log.files.log.read_bytes())
        os.utime(file, (long_ago, long_ago))
    assert [info.id for info in sessions.index.listing()] == ["old111"]
    sessions.prune_daily(90)
    assert [file.exists() for file in strays] == [True, True, True]
    assert not log.files.log.exists()


def test_reading_a_log_leaves_no_garbage_behind(sessions: Sessions) -> None:
    written(sessions, said("x")).close()

    class Picker:
        """Something that was closed and refers to itself, as widgets do."""

        def __init__(self) -> None:
            self.itself = self

    closed = [weakref.ref(Picker()) for _ in range(12)]
    read_log(LogFiles(sessions.new("abc123").files.directory, "abc123"))
    gc.collect()
    assert [ref() for ref in closed] == [None] * 12


def _crash(log: SessionLog) -> None:
    """Let go of the lock as a killed program does: nothing is tidied."""
    assert log._fd is not None
    os.close(log._fd)
    log._fd = None
