"""What a path may have meant: names close to a missing one, or what a directory holds."""

import difflib
import os
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from agent_cli.core.errors import ToolFailure
from agent_cli.lib.files import open_directory
from agent_cli.safety.oddities import visible
from agent_cli.safety.paths import ResolvedPath, Workspace
from agent_cli.tools._files import show_path

_MAX_LOOKED_AT = 20_000
_SEARCH_TIMEOUT_S = 0.3
_MAX_NAMES = 5
_MAX_LISTED = 200
_SKIPPED = frozenset({"node_modules", "__pycache__", "target", "dist", "build", "venv"})


def similar_paths(file: ResolvedPath, workspace: Workspace) -> list[str]:
    """Existing paths the missing one may have meant, the likeliest first."""
    if not workspace.contains(file.real):
        return []
    parent = Path(file.real).parent
    found = [str(parent / name) for name in _similar_names(parent, Path(file.real).name)]
    if len(found) < _MAX_NAMES:
        wanted = _plain(Path(file.real).name)
        found += [path for path in _same_name(workspace.root, wanted) if path not in found]
    return [_from(workspace.root, path) for path in found[:_MAX_NAMES]]


def missing(file: ResolvedPath, workspace: Workspace) -> ToolFailure:
    """There is nothing at this path, and what may have been meant."""
    near = similar_paths(file, workspace)
    if not near:
        return ToolFailure(f"{show_path(file)} does not exist.")
    return ToolFailure(f"{show_path(file)} does not exist. Did you mean {' or '.join(near)}?")


def listing(real: str) -> str:
    """What a directory holds: directories first, each with a slash."""
    directories: list[str] = []
    files: list[str] = []
    descriptor = open_directory(real)
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                (directories if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
    finally:
        os.close(descriptor)
    names = [f"{name}/" for name in sorted(directories)] + sorted(files)
    if not names:
        return "It is empty."
    lines = [visible(name, one_line=True) for name in names[:_MAX_LISTED]]
    if len(names) > _MAX_LISTED:
        lines.append(f"… and {len(names) - _MAX_LISTED:,} more")
    return "\n".join(lines)


def _similar_names(directory: Path, name: str) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            present = [entry.name for entry, _ in zip(entries, range(_MAX_LOOKED_AT), strict=False)]
    except OSError:
        return []
    by_plain: dict[str, list[str]] = {}
    for each in present:
        by_plain.setdefault(_plain(each), []).append(each)
    wanted = _plain(name)
    same_stem = [p for p in by_plain if p.partition(".")[0] == wanted.partition(".")[0]]
    close = difflib.get_close_matches(wanted, list(by_plain)[:2_000], _MAX_NAMES, 0.6)
    ranked = dict.fromkeys([*(p for p in (wanted,) if p in by_plain), *close, *same_stem])
    return [each for plain in ranked for each in by_plain[plain]][:_MAX_NAMES]


def _same_name(root: str, wanted: str) -> Iterator[str]:
    """Files of this name anywhere in the workspace, as far as a short search gets."""
    deadline = time.monotonic() + _SEARCH_TIMEOUT_S
    looked_at = 0
    for directory, below, names in os.walk(root):
        below[:] = [name for name in below if name not in _SKIPPED and not name.startswith(".")]
        yield from (str(Path(directory, name)) for name in names if _plain(name) == wanted)
        looked_at += len(names) + len(below)
        if looked_at > _MAX_LOOKED_AT or time.monotonic() > deadline:
            return


def _plain(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _from(root: str, path: str) -> str:
    relative = os.path.relpath(path, root)
    return visible(path if relative.startswith("..") else relative, one_line=True)
