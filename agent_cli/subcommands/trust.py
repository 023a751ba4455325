"""`agent trust`: shows what trusting a folder would enable, asks, and stores the answer."""

import argparse
import os
import sys
from pathlib import Path

from agent_cli.config.places import Places
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.core.trust import TooMuch, TrustItem, what_trust_enables
from agent_cli.runtime import trust_store
from agent_cli.safety.sanitise import visible
from agent_cli.storage.trust import TrustStore

ALWAYS = "Commands that are proven to change nothing, git among them, run there unasked."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `agent trust`."""
    parser.add_argument("folder", metavar="DIR", nargs="?", default=".", help="by default this one")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--list", action="store_true", help="show the folders that are trusted")
    parser.add_argument("--remove", action="store_true", help="trust the folder no longer")


def run(options: argparse.Namespace) -> int:
    """Show, ask, store."""
    store = trust_store(Places.of(os.environ))
    if options.list:
        return _list(store)
    folder = Path(options.folder).resolve()
    if options.remove:
        removed = store.remove(folder)
        _say(f"{folder} {'is no longer' if removed else 'was not'} trusted.")
        return ExitCode.DONE if removed else ExitCode.FAILED
    if not folder.is_dir():
        raise UserError(f"{folder} is not a directory.")
    return _trust(store, folder, asks=not options.yes)


def _trust(store: TrustStore, folder: Path, *, asks: bool) -> int:
    try:
        items = what_trust_enables(folder)
    except TooMuch as reason:
        raise UserError(f"{folder} cannot be trusted: {reason}.") from reason
    _show(store, folder, items)
    if asks and not _agrees():
        _say("Nothing was changed.")
        return ExitCode.FAILED
    try:
        store.trust(folder, items)
    except OSError as error:
        raise UserError(f"The answer cannot be stored: {error}.") from error
    _say(f"{folder} is trusted until one of these files changes.")
    return ExitCode.DONE


def _show(store: TrustStore, folder: Path, items: tuple[TrustItem, ...]) -> None:
    standing = store.standing(folder)
    _say(f"{folder} is {'trusted already' if standing.trusted else 'not trusted'}.")
    if standing.state == "changed":
        _say("It was, but since then these changed:")
        for path in standing.changed:
            _say(f"  {path}")
    _say("Trusting it enables:" if items else "It holds nothing that trusting it would enable.")
    for item in items:
        _say(f"  {item.kind:<12}  {item.path}")
        _say(f"                {item.detail}")
    _say(ALWAYS)


def _agrees() -> bool:
    """Ask on a terminal; everything but a clear yes is a no."""
    if not sys.stdin.isatty():
        raise UserError(
            "There is no terminal to ask on, so nothing was changed.",
            hint="Look at what is listed above, then say --yes.",
        )
    sys.stdout.write("Trust this folder? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _list(store: TrustStore) -> int:
    for folder in store:
        standing = store.standing(Path(folder.path))
        note = "" if standing.trusted else "  (changed since: not trusted)"
        _say(f"{folder.path}  since {folder.since}{note}")
    return ExitCode.DONE


def _say(text: str) -> None:
    sys.stdout.write(f"{visible(text, one_line=True)}\n")
