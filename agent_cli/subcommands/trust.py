"""`agent trust`: shows what trusting a folder would enable, asks, and saves the answer."""

import argparse
import os
from pathlib import Path

from agent_cli.config.user_directories import Directories
from agent_cli.core.deciding.trust_items import TooMuch, TrustItem
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.folder import trust_store
from agent_cli.lib.cells import pad
from agent_cli.lib.language import mark, tr
from agent_cli.storage.trust_store import TrustStore
from agent_cli.subcommands._printing import confirm, say

ALWAYS = mark("Read-only commands, including git, run there without asking.")
KINDS = {
    "settings": mark("settings"),
    "instructions": mark("instructions"),
    "servers": mark("servers"),
    "extension": mark("extension"),
    "script": mark("script"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `agent trust`."""
    which = tr("folder to trust; default: this one")
    parser.add_argument("folder", metavar="DIR", nargs="?", default=".", help=which)
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
        if not store.remove(folder):
            say(tr("{folder} was not trusted.", folder=folder))
            return ExitCode.FAILED
        say(tr("{folder} is no longer trusted.", folder=folder))
        return ExitCode.DONE
    if not folder.is_dir():
        raise UserError(tr("{path} is not a directory.", path=folder))
    return _trust(store, folder, asks=not options.yes)


def _trust(store: TrustStore, folder: Path, *, asks: bool) -> int:
    try:
        items = store.items(folder)
    except TooMuch as reason:
        said = tr("Can't trust {folder}: {reason}.", folder=folder, reason=reason.args[0])
        raise UserError(said) from reason
    _show(store, folder, items)
    if asks and not _agrees():
        say(tr("Nothing was changed."))
        return ExitCode.FAILED
    try:
        store.trust(folder, items)
    except OSError as error:
        raise UserError(tr("Can't save the answer: {reason}.", reason=error)) from error
    say(tr("{folder} is trusted until one of these files changes.", folder=folder))
    return ExitCode.DONE


def _show(store: TrustStore, folder: Path, items: tuple[TrustItem, ...]) -> None:
    standing = store.standing(folder)
    if standing.trusted:
        say(tr("{folder} is already trusted.", folder=folder))
    else:
        say(tr("{folder} is not trusted.", folder=folder))
    if standing.state == "changed":
        say(tr("It was trusted, but these files have changed:"))
        say(*(f"  {path}" for path in standing.changed))
    if items:
        say(tr("Trusting it enables:"))
    else:
        say(tr("It contains nothing that trusting it would enable."))
    for item in items:
        say(f"  {pad(tr(KINDS[item.kind]), 12)}  {item.path}")
        say(f"                {item.detail}")
    say(tr(ALWAYS))


def _agrees() -> bool:
    cannot = tr("Can't ask: this is not a terminal. Nothing was changed.")
    hint = tr("Review the list above, then add --yes.")
    return confirm(tr("Trust this folder? [y/N] "), cannot, hint)


def _list(store: TrustStore) -> int:
    for folder in store:
        standing = store.standing(Path(folder.path))
        since = tr("since {when}", when=folder.since)
        note = "" if standing.trusted else "  " + tr("(changed: no longer trusted)")
        say(f"{folder.path}  {since}{note}")
    return ExitCode.DONE
