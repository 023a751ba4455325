"""A place on this disk: links are followed and file patterns expanded as they are now."""

import os
from collections.abc import Callable
from glob import iglob
from itertools import islice

from agent_cli.safety.shell.shell_facts import ShellContext

MAX_MATCHES = 2000
MAX_ENTRIES = 20_000


def place_on_disk(
    cwd: str,
    roots: tuple[str, ...],
    home: str,
    *,
    git_is_plain: bool = True,
    shell_is_plain: bool = True,
    trusted: bool = True,
    probe_git: Callable[[str], bool] | None = None,
) -> ShellContext:
    """The place with everything resolved; `cwd` is where the shell really stands."""
    return ShellContext(
        cwd=os.path.realpath(cwd),
        roots=tuple(os.path.realpath(root) for root in roots),
        home=home,
        git_is_plain=git_is_plain,
        shell_is_plain=shell_is_plain,
        trusted=trusted,
        resolve=os.path.realpath,
        expand=expand,
        has_links=has_links,
        probe_git=probe_git,
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
