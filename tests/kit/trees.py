"""Directories and git repositories for tests, and a way to see that nothing changed."""

# Names are bytes here: any may stand on a disk.
# ruff: noqa: PTH115, PTH118, PTH208

import hashlib
import os
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path


def write(root: Path, files: Mapping[str, str]) -> None:
    """Put files below a directory."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def git(root: Path, *words: str) -> str:
    """Run git without any configuration of the person or the machine."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(root),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
    }
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *who, *words],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def repository(root: Path, files: Mapping[str, str]) -> None:
    """A repository with one commit of these files."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q")
    write(root, files)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")


def state_of(root: Path) -> str:
    """A hash of everything below a directory: names, kinds, modes, times and contents."""
    digest = hashlib.sha256()
    pending = [os.fsencode(root)]
    while pending:
        path = pending.pop()
        found = os.lstat(path)
        digest.update(repr((path, found.st_mode, found.st_size, found.st_mtime_ns)).encode())
        if stat.S_ISDIR(found.st_mode):
            pending += sorted(os.path.join(path, name) for name in os.listdir(path))
        elif stat.S_ISLNK(found.st_mode):
            digest.update(os.readlink(path))
        elif stat.S_ISREG(found.st_mode):
            digest.update(Path(os.fsdecode(path)).read_bytes())
    return digest.hexdigest()
