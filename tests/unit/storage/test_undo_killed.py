"""Undo and redo, killed at every step: each file is as it was before or after, and none is gone."""

import os
import signal
import sys
from pathlib import Path

from agent_cli.core.undo.checkpoint import Record
from agent_cli.core.undo.undo_plan import paths_of, plan
from agent_cli.core.undo.undoing import last_undo, standing
from tests.kit.oracle import Photo, differences, photograph
from tests.kit.places import furnish
from tests.unit.storage.test_checkpoint_store import Desk

COMMAND = (
    "rm -rf src/deep run.sh; mv build made; echo 1 > crlf.txt; sed -i s/one/ONE/ src/one.py; "
    "rm link; ln -s elsewhere link; mkfifo pipe; mkdir -p a/b; echo x > a/b/c; rm -rf .env; "
    "mkdir .env; echo y > .env/y; chmod 700 empty; chmod 600 private.txt; rm -rf .git; "
    "head -c 9000000 /dev/urandom > big; rm untracked.txt"
)
EVERY = 1 if "UNDO_EXAMPLES" in os.environ else 9
"""All steps are tried with the long runs."""
STEPS = ("os.rename", "os.rmdir", "os.chmod", "os.mkdir", "os.remove", "os.symlink", "os.utime")


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

        def hook(event: str, _arguments: object) -> None:
            if event in STEPS:
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
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


def test_an_undo_or_redo_killed_at_any_step_can_be_continued(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    furnish(desk.root, "repository")
    before = photograph(desk.root)
    record = desk.shell(COMMAND, deletes=(str(desk.root / ".git"),))
    assert record is not None
    after = photograph(desk.root)
    desk.store.close()
    kills = 0
    for step in range(1, 400, EVERY):
        was_killed = killed(tmp_path, "undo", step)
        check(tmp_path, before, after)
        desk = Desk(tmp_path)
        undo(desk)
        assert differences(before, photograph(desk.root)) == {}
        desk.store.close()
        was_killed |= killed(tmp_path, "redo", step)
        check(tmp_path, before, after)
        desk = Desk(tmp_path)
        redo(desk)
        assert differences(after, photograph(desk.root)) == {}
        desk.store.close()
        kills += was_killed
        if not was_killed:
            break
    assert kills > 10
    assert step < 390
