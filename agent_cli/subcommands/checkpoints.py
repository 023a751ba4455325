"""`agent checkpoints`: lists and deletes what is kept for undo."""

import argparse
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from agent_cli.config.user_directories import Directories
from agent_cli.core.errors import UserError
from agent_cli.lib.cells import pad
from agent_cli.lib.language import tr, trn
from agent_cli.lib.text import size
from agent_cli.safety.terminal import write_out
from agent_cli.storage.checkpoint.quota import CheckpointUsage, prune_others, remove, sessions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `agent checkpoints`."""
    parser.add_argument(
        "action", nargs="?", choices=("list", "prune"), default="list",
        help=tr("list checkpoints, or delete them; sessions in use keep theirs"),
    )  # fmt: skip
    parser.add_argument("--session", metavar="ID", help=tr("with prune: only this session"))
    older = tr("with prune: only sessions unused for this many days")
    parser.add_argument("--older", metavar="DAYS", type=float, help=older)
    parser.add_argument("--json", action="store_true", help=tr("one JSON object per session"))


def run(options: argparse.Namespace) -> int:
    """List or prune."""
    directory = Directories.of(os.environ).state / "checkpoints"
    if options.action == "prune":
        return _prune(directory, options)
    kept = sessions(directory)
    for each in kept:
        write_out(f"{_json(each) if options.json else _line(each)}\n")
    if not options.json:
        said = trn(
            "{n:,} session, {size} in {directory}",
            "{n:,} sessions, {size} in {directory}",
            len(kept),
            size=size(sum(each.bytes for each in kept)),
            directory=directory,
        )
        write_out(f"{said}\n")
    return 0


def _prune(directory: Path, options: argparse.Namespace) -> int:
    before = sum(each.bytes for each in sessions(directory))
    if options.session is not None:
        found = [each for each in sessions(directory) if each.session_id == options.session]
        if not found:
            raise UserError(tr("No checkpoints for session {id}.", id=options.session))
        if not remove(found[0].path):
            raise UserError(tr("Session {id} is in use.", id=options.session))
    elif options.older is not None:
        prune_others(directory, None, sys.maxsize, days=options.older)
    else:
        prune_others(directory, None, 0)
    after = sum(each.bytes for each in sessions(directory))
    freed, left = size(before - after), size(after)
    write_out(tr("Freed {freed}; {left} left.", freed=freed, left=left) + "\n")
    return 0


def _line(kept: CheckpointUsage) -> str:
    when = datetime.fromtimestamp(kept.last, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    room = pad(size(kept.bytes), 9, right=True)
    count = trn("{n:,} checkpoint", "{n:,} checkpoints", kept.checkpoints)
    use = "  " + tr("in use") if kept.in_use else ""
    return f"{when}  {kept.session_id:<12}  {room}  {count}{use}"


def _json(kept: CheckpointUsage) -> str:
    return json.dumps(
        {
            "session_id": kept.session_id,
            "bytes": kept.bytes,
            "checkpoints": kept.checkpoints,
            "last": datetime.fromtimestamp(kept.last, UTC).isoformat(),
            "in_use": kept.in_use,
        }
    )
