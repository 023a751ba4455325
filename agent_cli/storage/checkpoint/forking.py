"""What a session can undo, given to a copy of it."""

import contextlib
import os
import shutil
from pathlib import Path

from agent_cli.lib.files import private_directory
from agent_cli.storage.checkpoint.aside import copy_tree
from agent_cli.storage.checkpoint.records import write_whole


def fork(directory: Path, old: str, new: str) -> None:
    """Let a new session undo what an old one did; raises OSError.

    Bytes that nobody changes get a second name; each session lets go of its own.
    """
    source, target = directory / old, directory / new
    if not (source / "records").is_dir():
        return
    private_directory(directory)
    private_directory(target)
    for place in ("blobs", "aside"):
        private_directory(target / place)
        for path in (source / place).iterdir():
            with contextlib.suppress(FileNotFoundError):
                _give(path, target / place / path.name)
    private_directory(target / "trees")
    for path in (source / "trees").iterdir():
        copy_tree(str(path), str(target / "trees" / path.name))
    private_directory(target / "records")
    for path in (source / "records").glob("*.json"):
        with contextlib.suppress(FileNotFoundError):
            text = path.read_text(encoding="ascii")
            moved = text.replace(f"{source}/aside/", f"{target}/aside/")
            write_whole(target / "records" / path.name, moved.encode("ascii"))


def _give(path: Path, target: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        copy_tree(str(path), str(target))
        return
    try:
        os.link(path, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(path, target, follow_symlinks=False)
