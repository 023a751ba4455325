"""`agent sessions`: lists, searches, shows, exports and deletes sessions."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from agent_cli.config.user_directories import Directories
from agent_cli.core.errors import UserError
from agent_cli.core.log.history import read_history
from agent_cli.export import render_export
from agent_cli.lib.cells import pad
from agent_cli.lib.files import write_atomic
from agent_cli.lib.language import tr, trn
from agent_cli.safety.sanitise import visible
from agent_cli.safety.terminal import write_data, write_err, write_out
from agent_cli.storage.session_index import SessionInfo
from agent_cli.storage.session_store import Sessions

SHOWN_ID_CHARS = 8
"""Characters of an id that a list shows; they are enough to name a session."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The actions of `agent sessions`."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listed = actions.add_parser("list", help=tr("list sessions, newest first"))
    _add_list_flags(listed)
    search = actions.add_parser("search", help=tr("find sessions that contain these words"))
    search.add_argument("words", nargs="+", metavar="WORD")
    _add_list_flags(search)
    show = actions.add_parser("show", help=tr("print a session"))
    show.add_argument("session", metavar="ID")
    show.add_argument("--json", action="store_true", help=tr("print JSON"))
    export = actions.add_parser("export", help=tr("write a session to a file: .md, .html or .json"))
    export.add_argument("session", metavar="ID")
    export.add_argument("file", metavar="FILE", nargs="?", help=tr("without it: print Markdown"))
    delete = actions.add_parser("delete", help=tr("delete sessions permanently"))
    delete.add_argument("sessions", metavar="ID", nargs="+")


def _add_list_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--here", action="store_true", help=tr("only sessions of this directory"))
    parser.add_argument(
        "-n", metavar="N", type=int, default=50, help=tr("at most N sessions (default 50); 0: all")
    )
    parser.add_argument("--json", action="store_true", help=tr("one JSON object per line"))


def run(options: argparse.Namespace) -> int:
    """Carry out the action."""
    sessions = Sessions(Directories.of(os.environ).state)
    match options.action:
        case "list":
            here = os.path.realpath(".") if options.here else None
            _tell(sessions.index.listing(here, options.n or None), as_json=options.json)
        case "search":
            here = os.path.realpath(".") if options.here else None
            words = " ".join(options.words)
            found = sessions.index.search(words, here, options.n or sys.maxsize)
            _tell(found, as_json=options.json)
        case "show":
            _show(sessions, options.session, "x.json" if options.json else "x.md", None)
        case "export":
            file = Path(options.file) if options.file else None
            _show(sessions, options.session, options.file or "x.md", file)
        case _:
            _delete(sessions, options.sessions)
    return 0


def _tell(found: Sequence[SessionInfo], *, as_json: bool) -> None:
    if as_json:
        write_data("".join(f"{json.dumps(_data(info))}\n" for info in found))
        return
    sys.stdout.writelines(f"{line}\n" for info in found for line in _lines(info))
    if not found:
        write_err(tr("No matching sessions.") + "\n")


def _data(info: SessionInfo) -> dict[str, object]:
    snippet = info.snippet.replace("\x02", "").replace("\x03", "")
    return info._asdict() | {"snippet": snippet}


def _lines(info: SessionInfo) -> Iterable[str]:
    """id  time  turns  title  directory"""
    when = datetime.fromtimestamp(info.updated).astimezone().strftime("%Y-%m-%d %H:%M")
    name = info.name if len(info.name) <= 60 else f"{info.name[:59]}…"
    home = os.environ.get("HOME", "")
    place = info.workspace
    if home and place.startswith(f"{home}/"):
        place = f"~{place.removeprefix(home)}"
    turns = pad(trn("{n:,} turn", "{n:,} turns", info.turns), 9, right=True)
    line = f"{info.id[:SHOWN_ID_CHARS]}  {when}  {turns}  {name}  {place}"
    yield visible(line, one_line=True)
    if info.snippet:
        yield f"{'':10}{_mark(info.snippet)}"


def _mark(snippet: str) -> str:
    """The words that were searched for, bold on a terminal."""
    parts = [visible(part, one_line=True) for part in snippet.replace("\x03", "\x02").split("\x02")]
    start, end = ("\x1b[1m", "\x1b[0m") if sys.stdout.isatty() else ("", "")
    return "".join(f"{start}{p}{end}" if number % 2 else p for number, p in enumerate(parts))


def _show(sessions: Sessions, name: str, format_name: str, file: Path | None) -> None:
    info = sessions.find(name, os.path.realpath("."))
    text = render_export(read_history(sessions.read(info.id)), format_name)
    if file is None:
        write_data(text)
        return
    try:
        write_atomic(file, text.encode("utf-8", "replace"), mode=0o600)
    except OSError as error:
        why = error.strerror or error
        raise UserError(tr("Can't write {path}: {reason}.", path=file, reason=why)) from error
    write_out(tr("Written to {path}.", path=file) + "\n")


def _delete(sessions: Sessions, names: Sequence[str]) -> None:
    known = sessions.index.listing()
    wanted = []
    for name in names:
        if not name:  # every id begins like that
            raise UserError(tr("An id is empty. Nothing was deleted."))
        found = [info for info in known if info.id.startswith(name)]
        if not found:
            raise UserError(tr("No session id starts with {id}. Nothing was deleted.", id=name))
        if len(found) > 1:
            raise UserError(
                tr("More than one session id starts with {id}. Nothing was deleted.", id=name)
            )
        wanted += [info for info in found if info not in wanted]
    for info in wanted:
        try:
            sessions.delete(info.id)
        except OSError as error:
            why = error.strerror or error
            raise UserError(tr("Can't delete {id}: {reason}.", id=info.id, reason=why)) from error
        gone = visible(f"{info.id}  {info.name}", one_line=True)
        write_out(tr("Deleted {session}", session=gone) + "\n")
    sessions.index.refresh()
