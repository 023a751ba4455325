"""A place on this disk: links are followed and file patterns expanded as they are now."""

import os
from dataclasses import replace
from functools import partial
from itertools import islice

from agent_cli.lib.files import open_regular
from agent_cli.safety.sensitive import MAX_ENTRIES, find_secret_below
from agent_cli.safety.shell.globs import matches_on_disk
from agent_cli.safety.shell.shell_facts import ShellContext

MAX_MATCHES = 2000
MAX_LIST_BYTES = 1_000_000


def place_on_disk(place: ShellContext) -> ShellContext:
    """The place with everything resolved; its `cwd` is where the shell really stands."""
    return replace(
        place,
        cwd=os.path.realpath(place.cwd),
        roots=tuple(map(os.path.realpath, place.roots)),
        resolve=os.path.realpath,
        expand=expand,
        has_links=has_links,
        secret_below=partial(find_secret_below, home=place.home),
        read_list=read_list,
    )


def expand(pattern: str) -> tuple[str, ...] | None:
    """What the pattern may match now, or None when that is too much to look at."""
    found = tuple(islice(matches_on_disk(pattern, MAX_ENTRIES), MAX_MATCHES + 1))
    whole = tuple(path for path in found if path is not None)
    return None if len(found) > MAX_MATCHES or len(whole) < len(found) else whole


def read_list(path: str) -> str | None:
    """A small text file that names other files; None if it cannot be read."""
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            text = file.read(MAX_LIST_BYTES + 1)
    except OSError:
        return None
    return text.decode("utf-8", "surrogateescape") if len(text) <= MAX_LIST_BYTES else None


def has_links(path: str) -> bool:
    """Whether a link stands below a directory; yes if it is too large or closed to tell."""
    left = MAX_ENTRIES
    pending = [path] if os.path.isdir(path) else []  # noqa: PTH112 (text, as resolved)
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    left -= 1
                    if entry.is_symlink() or left < 0:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
        except OSError:
            return True
    return False
