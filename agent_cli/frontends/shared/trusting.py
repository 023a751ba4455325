"""What the user is told before they trust a folder, and how their answer is kept."""

import os
from pathlib import Path

from agent_cli.config.user_directories import Directories
from agent_cli.core.deciding.trust_items import TooMuch, TrustItem
from agent_cli.folder import trust_store
from agent_cli.lib.language import mark, tr

_KINDS = {
    "settings": mark("settings"),
    "instructions": mark("instructions"),
    "servers": mark("servers"),
    "extension": mark("extension"),
    "script": mark("script"),
}


def trust_items(folder: Path) -> tuple[TrustItem, ...] | None:
    """What trust would enable; None: it is too much to look at, so it cannot be trusted."""
    try:
        return trust_store(Directories.of(os.environ)).items(folder)
    except TooMuch:
        return None


def describe_items(items: tuple[TrustItem, ...]) -> tuple[str, ...]:
    """Each file that takes effect, in words."""
    return tuple(f"{tr(_KINDS[item.kind])}: {item.path} ({item.detail})" for item in items)


def keep_trust(folder: Path, items: tuple[TrustItem, ...], places: Directories) -> str:
    """Remember a yes; a warning if it cannot be kept: then it holds for this run."""
    try:
        trust_store(places).trust(folder, items)
    except OSError as error:
        return tr("The answer cannot be stored: {error}", error=error)
    return ""
