"""Undo and redo, killed at every step: each file is as it was before or after, and none is gone."""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.undo.checkpoint import Record
from agent_cli.core.undo.undo_plan import paths_of, plan
from agent_cli.core.undo.undoing import last_undo, standing
from agent_cli.safety.name_sets import names
from tests.kit.oracle import Photo, differences, photograph
from tests.kit.places import furnish
from tests.unit.storage.test_checkpoint_store import Desk

COMMAND = (
    "rm -r src/deep run.sh; mv build/sub made; echo 1 > crlf.txt; rm link; ln -s elsewhere link; mkfifo pipe; "
    "mkdir -p a/b; echo x > a/b/c; rm .env; mkdir .env; echo y > .env/y; chmod 700 empty; "
    "chmod 600 private.txt; rm large"
)
LONGER = (
    "; rm -rf .git; rm -rf build; sed -i s/one/ONE/ src/one.py; rm binary.dat; "
    "head -c 9000000 /dev/urandom > big"
)
IS_LONG = "UNDO_EXAMPLES" in os.environ
"""With the long runs every step is tried, not every third, and a repository is among what is restored: hundreds of files, all alike."""
READING = names(
    "_path_normpath access close fsdecode fsencode fspath fstat getcwd getpid get_inheritable isatty listdir lseek "
    "lstat pread read readlink scandir stat statvfs urandom times"
)
"""What changes nothing on the disk."""


def _apply(desk: Desk, kind: str, records: list[Record]) -> None:
    preview = plan("undo", records, desk.store.now(paths_of(records)), desk.store)
    assert {each.outcome for each in preview.files} <= {"restored"}, preview.files
    restored = desk.store.restore(preview.steps({}), kind=kind, of=records, turn=1)  # type: ignore[arg-type]
    assert not restored.failed


def undo(desk: Desk) -> None:
    if records := list(reversed(standing(desk.store.records()))):
        _apply(desk, "undo", records)


def redo(desk: Desk) -> None:
    while (last := last_undo(desk.store.records())) is not None:
        _apply(desk, "redo", [last])


def _changes_the_disk(function: Any) -> bool:
    """Whether this is a call of the system other than one that reads, or the writing of a file."""
    if function.__module__ == "posix":
        return function.__name__ not in READING
    owner = type(getattr(function, "__self__", None))
    return owner.__module__ == "_io" and function.__name__ in ("write", "close")


def killed(tmp_path: Path, act: str, step: int) -> bool:
    """Do it in another process, which kills itself before its nth change of the disk; whether it
    came so far."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.WIFSIGNALED(status)
    try:
        desk, left = Desk(tmp_path), [step]
        desk.store.records()

        def hook(_frame: object, event: str, what: Any) -> None:
            if event == "c_call" and _changes_the_disk(what):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(hook)
        (undo if act == "undo" else redo)(desk)
    finally:
        os._exit(0)


def check(tmp_path: Path, before: Photo, after: Photo) -> None:
    """Every name is as in one picture or the other, and if they are mixed, that is said."""
    desk = Desk(tmp_path)
    desk.store.records()
    notes = desk.store.take_notes()
    now = photograph(desk.root)
    for name in before.keys() | after.keys() | now.keys():
        found = now.get(name)
        if (found or ("",))[0] != "directory":  # some are open for as long as the undo lasts
            assert found in (before.get(name), after.get(name)), name
    mixed = differences(before, now) and differences(after, now)
    assert not mixed or any("cut short" in each for each in notes), notes
    desk.store.close()


def finish(tmp_path: Path, act: Callable[[Desk], None], wanted: Photo) -> None:
    """Do it, or the rest of it, without being killed."""
    desk = Desk(tmp_path)
    act(desk)
    assert differences(wanted, photograph(desk.root)) == {}
    desk.store.close()


@pytest.mark.parametrize("act", ["undo", "redo"])
def test_an_undo_or_redo_killed_at_any_step_can_be_continued(tmp_path: Path, act: str) -> None:
    for step in range(1 if act == "undo" else 2, 3_000, 1 if IS_LONG else 3):
        place = tmp_path / str(step)
        place.mkdir()
        desk = Desk(place)
        furnish(desk.root, "repository" if IS_LONG else "bare directory")
        (desk.root / "large").write_bytes(b"more than a pack takes\n" * 5_000)
        before = photograph(desk.root)
        deletes = (str(desk.root / ".git"),) if IS_LONG else ()
        assert desk.shell(COMMAND + (LONGER if IS_LONG else ""), deletes=deletes)
        after = photograph(desk.root)
        desk.store.close()
        if act == "redo":
            finish(place, undo, before)
        was_killed = killed(place, act, step)
        check(place, before, after)
        if act == "undo":
            finish(place, undo, before)
        finish(place, redo, after)
        shutil.rmtree(place)
        if not was_killed:
            break
    assert 30 < step < 2_999
