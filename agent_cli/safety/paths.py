"""Where a path really leads, and what that place is."""

# Paths are handled as text and as the kernel sees them: pathlib would drop or merge parts.
# ruff: noqa: PTH100, PTH114, PTH118, PTH120

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from agent_cli.lib.files import FileIdentity, kind_of, open_regular, read_identity
from agent_cli.safety.reasons import Reason, ReasonedError, because, quote_value
from agent_cli.safety.sensitive import is_own_policy, is_protected, is_secret

_MAX_PATH_CHARS = 4096
_MAX_NAME_CHARS = 255
_MAX_HASHED_BYTES = 10_000_000

_KERNEL_PLACES = (
    ("/dev", "a_device"),
    ("/proc", "process_state"),
    ("/sys", "kernel_state"),
)
_ORDINARY_PLACES = ("/dev/shm", "/dev/mqueue")

_PROBLEMS = {
    errno.ELOOP: "link_loop",
    errno.ENOTDIR: "not_a_directory",
    errno.EACCES: "directory_denied",
    errno.ENAMETOOLONG: "path_too_long",
}


class PathProblem(ReasonedError):
    """A path that cannot mean any file."""

    def __init__(self, path: str, reason: Reason) -> None:
        super().__init__(because("named", name=_shorten(path), why=reason) if path else reason)
        self.path = path


@dataclass(frozen=True)
class ResolvedPath:
    """A path as it was typed and as it is. Only `real` may be opened."""

    typed: str
    lexical: str
    """Absolute and normalised as text, links not followed: what the user reads."""
    real: str
    """Links followed, also those that dangle: what would be opened."""
    is_inside: bool
    via_link: bool
    exists: bool
    kind: str | None
    """What it is in words if it exists and is not a regular file."""
    names: int
    """How many names the file has; with more than one, a change shows elsewhere too."""

    @property
    def is_directory(self) -> bool:
        return self.kind == "a directory"

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """What the user should know before agreeing."""
        return tuple(_reasons(self))


@dataclass(frozen=True)
class PathFacts:
    """What rules are decided on; None means no."""

    inside: bool
    secret: Reason | None
    protected: Reason | None
    own: Reason | None
    """The agent's own settings and records: never written."""
    special: Reason | None
    """Not a place for files: never written, hardly ever read."""


@dataclass(frozen=True)
class Workspace:
    """The directories a session works in, fixed when it starts."""

    root: str
    added: tuple[str, ...] = ()
    home: str = field(default_factory=lambda: os.path.expanduser("~"))  # noqa: PTH111
    own: tuple[str, ...] = ()
    """The agent's own directories."""
    programs: tuple[str, ...] = ()
    """Directories on the search path that a project can put programs into: its own .venv/bin."""
    readable: tuple[str, ...] = ()
    """Directories of the agent's own that may be read: outputs of earlier calls, skills."""
    executed: frozenset[str] = frozenset()
    """Files in it that hooks and MCP servers run: changing them is like changing a hook."""
    on_disk: bool = True
    """False: a place that is only thought of; nothing is looked up, paths are resolved as text."""

    def __post_init__(self) -> None:
        # Real paths from the start: a link that is exchanged later must not move the workspace.
        real = os.path.realpath if self.on_disk else _normalise
        object.__setattr__(self, "root", real(self.root))
        object.__setattr__(self, "added", tuple(map(real, self.added)))

    @cached_property
    def _own_places(self) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(
                place for own in self.own for place in (os.path.abspath(own), os.path.realpath(own))
            )
        )

    def contains(self, real: str) -> bool:
        """Whether a real path lies in the workspace."""
        return any(contains(root, real) for root in (self.root, *self.added))

    def is_own_output(self, real: str) -> bool:
        """Whether a real path is the kept output of an earlier call, or part of a skill."""
        return any(contains(place, real) for place in self.readable)

    def resolve(self, path: str, *, cwd: str | None = None) -> ResolvedPath:
        """Where the path leads, seen from `cwd` or the root; raises PathProblem."""
        _check_text(path)
        typed = path
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        absolute = os.path.join(cwd or self.root, path)
        lexical = _normalise(absolute)
        real = real_path(absolute) if self.on_disk else lexical
        found = _status(real) if self.on_disk else None
        return ResolvedPath(
            typed=typed,
            lexical=lexical,
            real=real,
            is_inside=self.contains(real),
            via_link=real != lexical,
            exists=found is not None,
            kind=kind_of(found.st_mode) if found else None,
            names=found.st_nlink if found and stat.S_ISREG(found.st_mode) else 1,
        )

    def facts(self, path: ResolvedPath) -> PathFacts:
        """What the place is, judged by the path as read and as it is."""
        both = tuple(dict.fromkeys((path.real, path.lexical)))
        return PathFacts(
            inside=path.is_inside,
            secret=_first(is_secret(each, self.home) for each in both),
            protected=_first(self._protected(each) for each in both),
            own=_first(self._own(each) for each in both),
            special=_special(path),
        )

    def _protected(self, path: str) -> Reason | None:
        if path in self.executed:
            return because("runs_by_itself")
        return is_protected(path, self.home)

    def _own(self, path: str) -> Reason | None:
        folded = path.casefold()
        if any(contains(place.casefold(), folded) for place in self._own_places):
            return because("own_settings")
        return is_own_policy(path, self.home)


@dataclass(frozen=True)
class Fingerprint:
    """What the user agreed to: this place, in this state."""

    path: str
    real: str
    parent: str
    """The deepest directory that existed."""
    parent_id: tuple[int, int]
    identity: FileIdentity | None
    sha256: str | None


def contains(root: str, path: str) -> bool:
    """Whether the path is the root or below it, by whole names."""
    return os.path.commonpath((root, path)) == root


def real_path(path: str) -> str:
    """The absolute path with all links followed, as far as it exists; raises PathProblem."""
    try:
        return os.path.realpath(path, strict=True)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _problem(path, error) from error
    real = os.path.realpath(path)
    # Where links lead in a circle they are left standing.
    if any(os.path.islink(place) for place in _ancestors(real)):
        raise PathProblem(path, because(_PROBLEMS[errno.ELOOP]))
    return real


def fingerprint(path: str) -> Fingerprint:
    """The state of an absolute path now; raises PathProblem or NotRegularFile."""
    real = real_path(path)
    parent = next(p for p in _ancestors(os.path.dirname(real)) if os.path.isdir(p))  # noqa: PTH112
    identity, digest = _content(real)
    return Fingerprint(path, real, parent, _node(parent), identity, digest)


def still_same(approved: Fingerprint) -> Reason | None:
    """Why the place is no longer what was agreed to, or None if it is."""
    try:
        now = fingerprint(approved.path)
    except (PathProblem, OSError) as error:
        return because("unreadable_now", error=error)
    if now.real != approved.real:
        return because("leads_elsewhere_now", now=now.real, approved=approved.real)
    if not contains(approved.parent, now.parent) or _node(approved.parent) != approved.parent_id:
        return because("directory_replaced", parent=approved.parent)
    if (now.identity is None) != (approved.identity is None):
        return because("created_since") if now.identity else because("removed_since")
    if now.identity != approved.identity or now.sha256 != approved.sha256:
        return because("changed_since")
    return None


def _check_text(path: str) -> None:
    if not path.strip():
        raise PathProblem("", because("path_empty"))
    if "\0" in path:
        raise PathProblem(path, because("path_has_nul"))
    try:
        encoded = path.encode("utf-8")
    except UnicodeEncodeError as error:
        raise PathProblem(path, because("path_has_surrogate")) from error
    names = encoded.split(b"/")
    if len(encoded) >= _MAX_PATH_CHARS or max(map(len, names)) > _MAX_NAME_CHARS:
        raise PathProblem(path, because(_PROBLEMS[errno.ENAMETOOLONG]))


def _normalise(path: str) -> str:
    plain = os.path.normpath(path)
    # POSIX keeps exactly two leading slashes; the kernel takes them for one.
    return plain[1:] if plain.startswith("//") else plain


def _ancestors(path: str) -> Iterator[str]:
    """The path and every directory above it."""
    while True:
        yield path
        above = os.path.dirname(path)
        if above == path:
            return
        path = above


def _status(real: str) -> os.stat_result | None:
    try:
        return os.lstat(real)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _problem(real, error) from error


def _special(path: ResolvedPath) -> Reason | None:
    if path.kind and not path.is_directory:
        return because(path.kind.replace(" ", "_"))
    for place in (path.real, path.lexical):
        if any(contains(ordinary, place) for ordinary in _ORDINARY_PLACES):
            continue
        for kernel, reason in _KERNEL_PLACES:
            if contains(kernel, place):
                return because(reason)
    return None


def _reasons(path: ResolvedPath) -> Iterator[Reason]:
    if path.via_link:
        yield because("through_link_to", path=path.real)
    if not path.is_inside:
        yield because("outside")
    if path.names > 1:
        yield because("hard_links", names=path.names)


def _content(real: str) -> tuple[FileIdentity | None, str | None]:
    try:
        descriptor = open_regular(real)
    except FileNotFoundError:
        return None, None
    except PermissionError:
        # What cannot be read can still be recognised.
        return read_identity(real), None
    with os.fdopen(descriptor, "rb") as file:
        identity = read_identity(file.fileno())
        if identity.size > _MAX_HASHED_BYTES:
            return identity, None
        return identity, hashlib.file_digest(file, "sha256").hexdigest()


def _node(path: str) -> tuple[int, int]:
    found = os.lstat(path)
    return found.st_dev, found.st_ino


def _problem(path: str, error: OSError) -> PathProblem:
    known = _PROBLEMS.get(error.errno or 0)
    if known:
        return PathProblem(path, because(known))
    return PathProblem(
        path, quote_value(error.strerror) if error.strerror else because("unresolvable")
    )


def _first(reasons: Iterator[Reason | None]) -> Reason | None:
    return next((reason for reason in reasons if reason), None)


def _shorten(path: str) -> str:
    return path if len(path) <= 200 else f"{path[:120]}…{path[-60:]}"
