"""What is kept of a call so that it can be undone, whoever keeps it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

StateKind = Literal["absent", "file", "link", "directory", "repository", "other"]
FIFO = "fifo"


class PathState(NamedTuple):
    """What was at a path at one moment."""

    kind: StateKind
    mode: int = 0
    mtime_ns: int = 0
    size: int = 0
    content: str = ""
    """Of a file or a repository: the name under which its bytes are kept, empty if they are not.
    Of a link: where it leads. Of anything else: `FIFO` for a pipe."""
    why: str = ""
    """Why the bytes are not kept, in words."""
    ino: int = 0
    aside: str = ""
    """Where the very thing lies now, moved away from its path."""

    @property
    def exists(self) -> bool:
        """Whether anything is there."""
        return self.kind != "absent"

    @property
    def is_kept(self) -> bool:
        """Whether it can be put there again from what is written here."""
        return self.kind in ("absent", "link", "directory") or bool(self.content or self.aside)

    @property
    def identity(self) -> tuple[str, int, int, int]:
        """Which thing this is, wherever it lies and whatever its mode."""
        return self.kind, self.ino, self.size, self.mtime_ns

    def is_same(self, other: "PathState") -> bool:
        """Whether both are the same thing with the same bytes, whatever its mode and time.

        A file whose bytes are not kept is the same only if it is the very file, untouched. A
        repository's own directory is the same whatever happens inside, and so is a copy of it: its
        time is that of a file in it that git writes only once.
        """
        if self.kind != other.kind:
            return False
        if self.kind == "repository":
            if self.mtime_ns and other.mtime_ns:
                return self.mtime_ns == other.mtime_ns
            return self.ino == other.ino
        if self.kind == "file" and not (self.content and other.content):
            return self.identity == other.identity
        return self.content == other.content

    def is_equal(self, other: "PathState") -> bool:
        """Whether nothing differs that an undo would restore.

        A directory's time changes with each name in it; that alone is no change.
        """
        if not self.is_same(other):
            return False
        if self.kind == "repository":
            return True
        has_time = self.kind in ("file", "link")
        return self.mode == other.mode and (not has_time or self.mtime_ns == other.mtime_ns)


ABSENT = PathState("absent")


@dataclass(frozen=True)
class PathChange:
    """What became of one path."""

    path: str
    before: PathState
    after: PathState
    doubt: str = ""
    """Why it may not be the call's doing, in words; empty: it is."""

    @property
    def verb(self) -> Literal["created", "changed", "deleted"]:
        """What happened to it, in a word."""
        if not self.before.exists:
            return "created"
        return "changed" if self.after.exists else "deleted"


RecordKind = Literal["call", "undo", "redo"]


@dataclass(frozen=True)
class Record:
    """What one call changed, or one undo."""

    number: int
    """Later ones have higher numbers."""
    kind: RecordKind
    turn: int
    call_id: str
    tool: str
    title: str
    time: float
    changes: tuple[PathChange, ...] = ()
    by: Literal["tools", "shell"] = "tools"
    """How it changed files: path by path, or through commands."""
    of: tuple[int, ...] = ()
    """The records that this one reverses; none for one that was cut short."""
    notes: tuple[str, ...] = ()
    """What could not be kept, and why."""
    is_open: bool = False
    """It has not ended, or the program ended before it did."""
    ended: float = 0.0
    targets: tuple[str, ...] | None = None
    """All it can change, with all that is below; None: that is not known."""


@dataclass(frozen=True, kw_only=True)
class UpcomingCall:
    """A call that is about to run and may change files."""

    call_id: str
    turn: int
    tool: str
    title: str
    paths: tuple[str, ...] | None
    """All it can change, real paths, each for itself; None: that is not known."""
    deletes: tuple[str, ...] = ()
    """Real paths it is known to delete, with all that is below."""
    strikes: tuple[str, ...] = ()
    """Real paths it is known to change in other ways, with all that is below."""
    writes: tuple[str, ...] = ()
    """Real paths of files it is known to write, whether they are there yet or not."""
    touches: tuple[str, ...] = ()
    """Real paths of which it changes only mode or owner, with all that is below."""
    targets: tuple[str, ...] | None = None
    """Of a command that is understood: all it can change, with all that is below."""
    prunes: bool = False
    """Whether it may make git let go of bytes that only git has."""


@dataclass(frozen=True)
class CheckpointOutcome:
    """What could be done before a call."""

    lost: tuple[str, ...] = ()
    """What the call is known to destroy and what could not be kept, in words."""
    notes: tuple[str, ...] = ()
    """What else should be known, such as folders that are not kept."""


@dataclass(frozen=True)
class RestoreStep:
    """What an undo is to do to one path."""

    path: str
    now: PathState
    """What must still be there when it is done."""
    then: PathState


@dataclass(frozen=True)
class RestoreOutcome:
    """What an undo did."""

    done: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    """Paths that were left as they are, and why."""


class Checkpoints(Protocol):
    """Keeps what calls change, and can put it back. Its methods block: call them in a thread."""

    @property
    def room(self) -> int:
        """How many bytes can be kept before one call."""
        return 0

    def before(self, call: UpcomingCall) -> CheckpointOutcome:
        """Keep what is needed to undo the call; may raise OSError."""
        return CheckpointOutcome()

    def after(self, call_id: str) -> Record | None:
        """Find out what the call changed; None if that was nothing. May raise OSError."""
        return None

    def records(self) -> Sequence[Record]:
        """All that changed something, oldest first."""
        return ()

    def now(self, paths: Collection[str]) -> dict[str, PathState]:
        """What is there now."""
        return {}

    def finds(self, state: PathState) -> bool:
        """Whether this could be put back, from bytes that are kept or from the thing itself."""
        return False

    def read(self, state: PathState) -> bytes | None:
        """The bytes of a file as they were; None if they are gone."""
        return None

    def write(self, data: bytes, like: PathState) -> PathState:
        """A state with these bytes, kept for `restore`."""
        return like._replace(content="")

    def merge(self, base: bytes, mine: bytes, other: bytes) -> tuple[bytes, bool] | None:
        """The changes from base to mine and from base to other together, and whether that went
        without a conflict; None where bytes of this kind cannot be merged."""
        return None

    def restore(
        self, plan: Sequence[RestoreStep], *, kind: RecordKind, of: Sequence[Record], turn: int
    ) -> RestoreOutcome:
        """Carry out an undo, which becomes a record itself."""
        return RestoreOutcome()

    def take_notes(self) -> tuple[str, ...]:
        """What should be known and was not told yet, such as an undo that was cut short."""
        return ()

    def close(self) -> None:
        """Let go of what is held."""
        return


class NoCheckpoints(Checkpoints):
    """Keeps nothing, as the methods do by default: for tests, and where nobody wants any."""
