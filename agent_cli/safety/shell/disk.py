"""A place on this disk: links are followed and file patterns expanded as they are now."""

import os
from dataclasses import replace
from glob import iglob
from itertools import islice

from agent_cli.safety.shell.shell_facts import ShellContext

MAX_MATCHES = 2000
MAX_ENTRIES = 20_000


def place_on_disk(place: ShellContext) -> ShellContext:
    """The place with everything resolved; its `cwd` is where the shell really stands."""
    return replace(
        place,
        cwd=os.path.realpath(place.cwd),
        roots=tuple(map(os.path.realpath, place.roots)),
        resolve=os.path.realpath,
        expand=expand,
        has_links=has_links,
    )


def expand(pattern: str) -> tuple[str, ...] | None:
    """What the glob matches now, or None when that is too much to look at."""
    found = tuple(islice(iglob(pattern), MAX_MATCHES + 1))  # noqa: PTH207  the text may be any glob
    return None if len(found) > MAX_MATCHES else found


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
