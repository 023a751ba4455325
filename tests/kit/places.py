"""Directories as an agent finds them, and all that an undo must bring back."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

KINDS = ("repository", "without commits", "bare directory")
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(directory: Path, *words: str) -> str:
    """Run git with nobody's configuration."""
    done = subprocess.run(
        ["git", *words], cwd=directory, env=ENVIRONMENT, check=True, capture_output=True, text=True
    )
    return done.stdout


def furnish(root: Path, kind: str) -> None:
    """A small project: modules, a program, links, an empty directory, ignored files, old times."""
    files = {
        ".gitignore": "*.log\nbuild/\n.env\n",
        "src/one.py": "one = 1\n",
        "src/two.py": "two = 2\n",
        "src/deep/er/three.py": "three = 3\n",
        "run.sh": "#!/bin/sh\necho hi\n",
        "crlf.txt": "a\r\nb\r\n",
        "private.txt": "for me\n",
        "build/out.o": "object code\n",
        "build/sub/more.o": "more\n",
        ".env": "KEY=value\n",
        "debug.log": "a log\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    (root / "binary.dat").write_bytes(bytes(range(256)) * 4)
    (root / "run.sh").chmod(0o755)
    (root / "private.txt").chmod(0o600)
    (root / "link").symlink_to("src/one.py")
    (root / "dangling").symlink_to("nowhere")
    (root / "empty" / "inside").mkdir(parents=True)
    (root / "empty").chmod(0o750)
    for number, path in enumerate(sorted(root.rglob("*"))):
        when = 1_600_000_000_123_456_789 + number * 1_000_000_000
        os.utime(path, ns=(when, when), follow_symlinks=False)
    if kind != "bare directory":
        git(root, "init", "-q")
    if kind == "repository":
        git(root, "add", "-A")
        git(root, "commit", "-qm", "first")
        (root / "src" / "two.py").write_text("two = 22  # not committed\n")
        (root / "untracked.txt").write_text("nobody has this\n")


def picture(root: Path, *, besides: tuple[str, ...] = (".git",)) -> dict[str, tuple[object, ...]]:
    """Everything below a directory: kind, mode, bytes, link target, and the time of what is no
    directory."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if name.split("/", maxsplit=1)[0] in besides:
            continue
        status = path.lstat()
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISLNK(status.st_mode):
            found[name] = ("link", str(path.readlink()), status.st_mtime_ns)
        elif stat.S_ISDIR(status.st_mode):
            found[name] = ("directory", mode)
        else:
            found[name] = ("file", mode, status.st_mtime_ns, path.read_bytes())
    return found


def git_picture(root: Path) -> dict[str, tuple[object, ...]]:
    """The repository's own files, to the byte and the nanosecond."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted((root / ".git").rglob("*")):
        status = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (status.st_mode, status.st_mtime_ns, data)
    return found
