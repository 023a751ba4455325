"""What git tells us about a directory, asked so that nothing of the repository runs or changes."""

import contextlib
import os
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent_cli.lib.files import private_directory
from agent_cli.safety.git_probe import WITHOUT_HELPERS, bare_environment
from agent_cli.storage.checkpoint.states import lstat

TIMEOUT_S = 60
_CONVERTING = ("core.autocrlf", "core.attributesfile", "core.eol")
HALF = 0xFFFFFFFF
"""git keeps the lower half of numbers and sizes."""
_SECOND = 1_000_000_000
_REGULAR = 0o100

IndexEntry = tuple[int, int, int, int, int, int, int, bytes, int]
"""What git's index says about one file: its times in seconds and nanoseconds, its number, mode and
size, the name of its bytes, flags."""


@dataclass
class GitDirectory:
    """Looks at one directory, in a repository or not."""

    root: str
    environment: Mapping[str, str]
    aside: Path
    """Where files that are merged are kept for a moment."""
    directory: str | None = field(init=False)
    """The directory of the repository's own files; None: there is no repository."""
    top: str = field(init=False)
    _excludes: str = field(init=False, default="")
    _objects: str = field(init=False, default="")
    _mark: tuple[object, ...] = field(init=False, default=())
    _kept: dict[str, object] = field(init=False, default_factory=dict)
    """By the beginnings of names: what tells that git keeps other objects there."""

    def __post_init__(self) -> None:
        words = ("--absolute-git-dir", "--show-toplevel", "--git-path", "info/exclude")
        said = self._run("rev-parse", *words, "--git-path", "objects")
        lines = os.fsdecode(said or b"").split("\n")
        self.directory, self.top = (lines[0], lines[1]) if len(lines) >= 2 else (None, self.root)
        if self.directory is not None and not _is_within(self.root, self.top):
            self.directory, self.top = None, self.root  # it leads elsewhere: not this directory's
        if self.directory is not None:
            self._excludes, self._objects = (str(Path(self.root, each)) for each in lines[2:4])
            self._mark = _mark(self.directory, self.top)
            self._kept = self._look_at_objects()

    def is_as_it_was(self) -> bool:
        """Whether the repository, and with it the bytes it keeps, is still the one it was."""
        return self.directory is None or _mark(self.directory, self.top) == self._mark

    def take_stirred(self) -> tuple[str, ...]:
        """The beginnings of names under which git may keep less than at the last time."""
        before, self._kept = self._kept, self._look_at_objects()
        packs = frozenset(self._kept.get("", ()))  # type: ignore[call-overload]
        return tuple(
            name
            for name, seen in before.items()
            if (seen - packs if isinstance(seen, frozenset) else self._kept.get(name) != seen)
        )

    def _look_at_objects(self) -> dict[str, object]:
        found: dict[str, object] = {}
        with contextlib.suppress(OSError):
            for entry in os.scandir(self._objects or "/nowhere"):
                if entry.name == "pack":
                    found[""] = frozenset(each.name for each in os.scandir(entry.path))
                elif len(entry.name) == 2:
                    found[entry.name] = entry.stat().st_mtime_ns
        return found

    def ignoring(self) -> tuple[object, ...]:
        """By which it is seen that something else is ignored now, but for files in the tree."""
        found = map(lstat, (self._excludes, f"{self.directory}/config"))
        return tuple(each and (each.st_ino, each.st_ctime_ns) for each in found)

    def lacks(self, oids: Iterable[str]) -> set[str]:
        """Of these names, those under which git keeps nothing."""
        wanted = set(oids)
        if self.directory is None or not wanted:
            return wanted
        said = self._run("cat-file", "--batch-check", given="\n".join(wanted).encode() + b"\n")
        lines = (line.split(" ") for line in (said or b"").decode().splitlines())
        return wanted - {words[0] for words in lines if words[1:2] == ["blob"]}

    def start_ignored(self) -> "subprocess.Popen[bytes] | None":
        """Begin to list what git ignores; `ignored` takes the output."""
        if self.directory is None:
            return None
        words = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"]
        with contextlib.suppress(OSError):
            return subprocess.Popen(
                ["git", *WITHOUT_HELPERS, *self._personal_excludes(), *words],
                cwd=self.root,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return None

    def ignored(self, process: "subprocess.Popen[bytes] | None") -> list[str]:
        """The directories that are ignored as a whole, relative to ours; none where git fails."""
        if process is None:
            return []
        try:
            data, _ = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return []
        return [name[:-1] for name in os.fsdecode(data).split("\0") if name.endswith("/")]

    def still_ignored(self, directories: Iterable[str]) -> set[str]:
        """Those of these directories below ours that git ignores now."""
        mine = [each for each in directories if _is_within(each, self.root)]
        if not mine or self.directory is None or not os.path.isdir(self.directory):  # noqa: PTH112
            return set(mine)
        words = (*self._personal_excludes(), "check-ignore", "-z", "--stdin")
        said = self._run(*words, given=b"".join(os.fsencode(each) + b"\0" for each in mine))
        return set(os.fsdecode(said or b"").split("\0"))

    def index(self) -> dict[str, IndexEntry]:
        """What the index says, by path; empty where it is not usable."""
        if self.directory is None or not self._keeps_all():
            return {}
        path = Path(self.directory, "index")
        try:
            data, written = path.read_bytes(), path.stat().st_mtime_ns
            # Written in the same moment as the index, a file may have changed unnoticed.
            return _entries(data, self.top.rstrip("/") + "/", written // _SECOND - 1)
        except (OSError, struct.error, ValueError, IndexError):
            return {}

    def _keeps_all(self) -> bool:
        """Whether git has the bytes of every entry here, under names of twenty bytes."""
        said = self._run("config", "--list", "--name-only", "-z")
        keys = os.fsdecode(said or b"").lower()
        return said is not None and "partialclone" not in keys and "objectformat" not in keys

    def converts(self, names: Iterable[str]) -> bool:
        """Whether git may keep other bytes than those on the disk (line ends, filters)."""
        if any(name.endswith(".gitattributes") for name in names) or self.directory is None:
            return True
        if Path(self.directory, "info", "attributes").exists():
            return True
        if any((parent / ".gitattributes").exists() for parent in Path(self.root).parents):
            return True
        said = self._run("config", "--list", "--name-only", "-z", environment=self._personal)
        configured = os.fsdecode(said or b"").lower().split("\0")
        return said is None or any(key in configured for key in _CONVERTING)

    def read(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """The bytes git keeps under these names; those it does not have are left out."""
        wanted = list(dict.fromkeys(oids))
        if not wanted or self.directory is None:
            return
        said = self._run("cat-file", "--batch", given="\n".join(wanted).encode() + b"\n")
        at, data = 0, said or b""
        while at < len(data):
            end = data.index(b"\n", at)
            oid, *rest = data[at:end].decode().split(" ")
            at = end + 1
            if len(rest) == 2:
                length = int(rest[1])
                if rest[0] == "blob":
                    yield oid, data[at : at + length]
                at += length + 1

    def merge(self, base: bytes, mine: bytes, other: bytes) -> tuple[bytes, bool] | None:
        """Both changes in one text, and whether they do not meet; None where git cannot merge."""
        directory = private_directory(self.aside)
        paths = [directory / name for name in ("yours", "base", "restored")]
        try:
            for path, data in zip(paths, (mine, base, other), strict=True):
                path.write_bytes(data)
            done = subprocess.run(
                ["git", "merge-file", "-p", "-L", "yours", "-L", "after the call",
                 "-L", "before the call", *map(str, paths)],
                cwd=directory,
                env={**self._environment, "GIT_DIR": os.devnull},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIMEOUT_S,
                check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return None
        finally:
            for path in paths:
                path.unlink(missing_ok=True)
        if not 0 <= done.returncode <= 127:
            return None
        return done.stdout, done.returncode == 0

    def _personal_excludes(self) -> tuple[str, ...]:
        """Options that make git ignore what the user's own configuration ignores."""
        words = ("config", "--global", "--path", "--get", "core.excludesFile")
        path = os.fsdecode(self._run(*words, environment=self._personal) or b"").rstrip("\n")
        return ("-c", f"core.excludesFile={path}") if path else ()

    @property
    def _personal(self) -> dict[str, str]:
        """The environment in which git reads the user's configuration too."""
        without = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")
        return {key: value for key, value in self._environment.items() if key not in without}

    @property
    def _environment(self) -> dict[str, str]:
        kept = ("PATH", "HOME", "XDG_CONFIG_HOME")
        given = {name: self.environment[name] for name in kept if self.environment.get(name)}
        return {**bare_environment(self.environment), **given}

    def _run(
        self, *words: str, given: bytes = b"", environment: Mapping[str, str] | None = None
    ) -> bytes | None:
        try:
            done = subprocess.run(
                ["git", *WITHOUT_HELPERS, *words],
                cwd=self.root,
                env=environment or self._environment,
                input=given,
                capture_output=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout if done.returncode == 0 else None


def _mark(directory: str, top: str) -> tuple[object, ...]:
    """Tells a repository from another that was made in its place."""
    found = [Path(directory, name) for name in ("objects", "commondir", "config")]
    stats = [path.stat() for path in found if path.exists()]
    link = lstat(f"{top}/.git")
    return link and link.st_ino, *(
        (each.st_ino, 0 if i == 0 else each.st_mtime_ns) for i, each in enumerate(stats)
    )


def _is_within(path: str, top: str) -> bool:
    return path == top or path.startswith(top.rstrip("/") + "/")


def _entries(data: bytes, top: str, before: int) -> dict[str, IndexEntry]:
    """The regular files of an index of version 2, 3 or 4 that were written before a second; one in
    several parts raises ValueError."""
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("not an index")
    unpack = struct.Struct(">4I4xII8xI20sH").unpack_from
    found: dict[str, IndexEntry] = {}
    at, name, prefix, encoding = 12, b"", os.fsencode(top), sys.getfilesystemencoding()
    for _ in range(count):
        entry = unpack(data, at)
        flags = entry[8]
        start = at + (64 if flags & 0x4000 else 62)
        if version == 4:
            dropped, start = _varint(data, start)
            end = data.index(b"\0", start)
            name = name[: len(name) - dropped] + data[start:end]
            at = end + 1
        else:
            end = data.index(b"\0", start)
            name = data[start:end]
            at += (end - at + 8) // 8 * 8
        if entry[5] >> 9 == _REGULAR and not flags & 0x3000 and entry[2] < before:
            found[(prefix + name).decode(encoding, "surrogateescape")] = entry
    if data[at : at + 4] == b"link":
        raise ValueError("the index is split")
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = (value + 1) << 7 | (byte & 0x7F)
    return value, at + 1
