"""The audit log on disk."""

import json
import multiprocessing
import stat
from pathlib import Path

from agent_cli.core.log.store import CallRecord
from agent_cli.storage.audit_log import AuditLog, read_records


def record(call: str) -> CallRecord:
    return CallRecord(session_id="s", call_id=call, tool="Bash", targets=("x" * 100,))


def write_many(path: Path, name: str, count: int) -> None:
    log = AuditLog(path, largest=5_000, old_files=1000)
    for number in range(count):
        log.record(record(f"{name}-{number}"))
    log.close()


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "state" / "audit.jsonl"
    AuditLog(path).record(record("a"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_full_file_is_put_aside_and_the_oldest_goes(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path, largest=1_000, old_files=2)
    for number in range(40):
        log.record(record(str(number)))
    files = sorted(each.name for each in tmp_path.glob("audit.jsonl*"))
    assert files == ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]
    assert all(each.stat().st_size <= 1_000 for each in tmp_path.glob("audit.jsonl*"))
    calls = [int(each["call_id"]) for each in read_records(path)]
    assert calls == list(range(calls[0], 40))


def test_several_processes_lose_nothing_while_files_are_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(path, f"p{n}", 200)) for n in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    calls = [each["call_id"] for each in read_records(path)]
    assert sorted(calls) == sorted(f"p{n}-{i}" for n in range(3) for i in range(200))
    for n in range(3):
        own = [call for call in calls if call.startswith(f"p{n}-")]
        assert own == [f"p{n}-{i}" for i in range(200)]


def test_half_a_line_spoils_neither_the_next_nor_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_text('{"call_id": "half')
    AuditLog(path).record(record("whole"))
    with path.open("a") as file:
        file.write('7\n[1]\n\xff{"call_id": "an')
    assert [each["call_id"] for each in read_records(path)] == ["whole"]


def test_a_log_that_was_removed_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path)
    log.record(record("a"))
    path.unlink()
    log.record(record("b"))
    assert [json.loads(line)["call_id"] for line in path.read_text().splitlines()] == ["b"]


def test_no_log_is_no_records(tmp_path: Path) -> None:
    assert list(read_records(tmp_path / "none")) == []


def test_a_record_is_one_line_to_every_reader(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    odd = "a\u2028b\u2029c\x85d\x1ce"
    log.record(CallRecord(session_id=odd, call_id="1", tool="Bash", by="model", mode="default"))
    log.close()
    text = (tmp_path / "audit.jsonl").read_text(encoding="utf-8")
    assert len(text.splitlines()) == 1
    assert json.loads(text)["session_id"] == odd
