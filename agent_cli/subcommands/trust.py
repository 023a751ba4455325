"""`agent trust`: shows what trusting a folder would enable, asks, and saves the answer."""

import argparse
import os
import sys
from pathlib import Path

from agent_cli.config.user_directories import Directories
from agent_cli.core.deciding.trust_items import TooMuch, TrustItem, what_trust_enables
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.folder import trust_store
from agent_cli.lib.cells import pad
from agent_cli.lib.language import mark, tr
from agent_cli.safety.sanitise import visible
from agent_cli.storage.trust_store import TrustStore

ALWAYS = mark("Read-only commands, including git, run there without asking.")
KINDS = {
    "settings": mark("settings"),
    "instructions": mark("instructions"),
    "servers": mark("servers"),
    "extension": mark("extension"),
}
YES = ("y", "yes", "是")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `agent trust`."""
    parser.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        default=".",
        help=tr("folder to trust; default: this one"),
    )
    parser.add_argument("--yes", action="store_true", help=tr("don't ask"))
    parser.add_argument("--list", action="store_true", help=tr("list trusted folders"))
    parser.add_argument("--remove", action="store_true", help=tr("stop trusting the folder"))


def run(options: argparse.Namespace) -> int:
    """Show, ask, store."""
    store = trust_store(Directories.of(os.environ))
    if options.list:
        return _list(store)
    folder = Path(options.folder).resolve()
    if options.remove:
        removed = store.remove(folder)
        if not removed:
            _say(tr("{folder} was not trusted.", folder=folder))
            return ExitCode.FAILED
        _say(tr("{folder} is no longer trusted.", folder=folder))
        return ExitCode.DONE
    if not folder.is_dir():
        raise UserError(tr("{path} is not a directory.", path=folder))
    return _trust(store, folder, asks=not options.yes)


def _trust(store: TrustStore, folder: Path, *, asks: bool) -> int:
    try:
        items = what_trust_enables(folder)
    except TooMuch as reason:
        raise UserError(
            tr("Can't trust {folder}: {reason}.", folder=folder, reason=reason.args[0])
        ) from reason
    _show(store, folder, items)
    if asks and not _agrees():
        _say(tr("Nothing was changed."))
        return ExitCode.FAILED
    try:
        store.trust(folder, items)
    except OSError as error:
        raise UserError(tr("Can't save the answer: {reason}.", reason=error)) from error
    _say(tr("{folder} is trusted until one of these files changes.", folder=folder))
    return ExitCode.DONE


def _show(store: TrustStore, folder: Path, items: tuple[TrustItem, ...]) -> None:
    standing = store.standing(folder)
    if standing.trusted:
        _say(tr("{folder} is already trusted.", folder=folder))
    else:
        _say(tr("{folder} is not trusted.", folder=folder))
    if standing.state == "changed":
        _say(tr("It was trusted, but these files have changed:"))
        for path in standing.changed:
            _say(f"  {path}")
    if items:
        _say(tr("Trusting it enables:"))
    else:
        _say(tr("It contains nothing that trusting it would enable."))
    for item in items:
        _say(f"  {pad(tr(KINDS[item.kind]), 12)}  {item.path}")
        _say(f"                {item.detail}")
    _say(tr(ALWAYS))


def _agrees() -> bool:
    """Ask on a terminal; everything but a clear yes is a no."""
    if not sys.stdin.isatty():
        raise UserError(
            tr("Can't ask: this is not a terminal. Nothing was changed."),
            hint=tr("Review the list above, then add --yes."),
        )
    sys.stdout.write(tr("Trust this folder? [y/N] "))
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in YES


def _list(store: TrustStore) -> int:
    for folder in store:
        standing = store.standing(Path(folder.path))
        since = tr("since {when}", when=folder.since)
        note = "" if standing.trusted else "  " + tr("(changed: no longer trusted)")
        _say(f"{folder.path}  {since}{note}")
    return ExitCode.DONE


def _say(text: str) -> None:
    sys.stdout.write(f"{visible(text, one_line=True)}\n")
