"""Changing a file: what it was, what becomes of it, and the one way it is written."""

import asyncio
import contextlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass

from agent_cli.core.display import DiffBlock
from agent_cli.core.errors import ToolFailure
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.encodings import Encoding
from agent_cli.lib.files import (
    FileIdentity,
    NotRegularFile,
    open_direct,
    open_directory,
    read_identity,
    write_atomic,
)
from agent_cli.safety.paths import PathProblem, ResolvedPath, fingerprint, still_same
from agent_cli.tools._diffs import diff_block
from agent_cli.tools._files import (
    Doing,
    FileMemory,
    cannot,
    check_cancelled,
    failure,
    read_small,
    resolve,
    show_path,
    title,
    to_the_end,
)


@dataclass(frozen=True)
class ExistingFile:
    """A file that is there, as it is now."""

    identity: FileIdentity
    data: bytes | None
    """None for a file too large to be held."""


@dataclass(frozen=True)
class FileEdit:
    """What is to become of a file. Texts are for the diff; `data` is what is written."""

    file: ResolvedPath
    before: str
    after: str
    data: bytes
    encoding: Encoding
    notes: tuple[str, ...] = ()
    existed: bool = True
    lines: tuple[int, ...] = ()
    """The lines at which an edit took place."""

    @property
    def remarks(self) -> str:
        """What the model should know about it and about the way to the file, one a line."""
        notes = list(self.notes)
        if self.file.via_link:
            notes.append(f"the path leads through a link to {self.file.real}")
        if self.file.names > 1:
            notes.append(f"the file had {self.file.names} names; the others keep the old content")
        return "".join(f"\n[{note}]" for note in notes)


Planner = Callable[[ResolvedPath, FileMemory], FileEdit]
"""Works out a change of a file, or says why it must not be made."""


async def carry_out(plan: Planner, path: str, context: ToolContext, doing: Doing) -> FileEdit:
    """Make the change that is planned now, and remember the file's new state."""
    file, memory = resolve(context, path), context.state(FileMemory)

    def work() -> FileEdit:
        check_approval(context, file)
        change = plan(file, memory)
        check_cancelled(context.cancelled)
        memory.remember(file.real, commit(change, doing), change.data)
        return change

    return await to_the_end(work, context.cancelled, f"By then {show_path(file)} had been written.")


async def show(plan: Planner, path: str, context: ToolContext) -> DiffBlock:
    """The change as a diff; what cannot be done fails here, before anybody is asked."""
    file, memory = resolve(context, path), context.state(FileMemory)

    def work() -> DiffBlock:
        change = plan(file, memory)
        note_approval(context, file)
        return diff_block(title(file.real), change.before, change.after)

    return await asyncio.to_thread(work)


def look(file: ResolvedPath, doing: Doing) -> ExistingFile | None:
    """The file as it is, None if there is none; what must not be changed is refused."""
    try:
        descriptor = open_direct(file.real)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise failure(file, error, doing) from error
    try:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        if not mode & 0o222 or not os.access(file.real, os.W_OK):
            raise ToolFailure(
                f"{cannot(doing, file)}: it is write-protected (mode {mode:04o}). Ask "
                "the user before changing that."
            )
        return ExistingFile(*read_small(descriptor))
    finally:
        os.close(descriptor)


def note_approval(context: ToolContext, file: ResolvedPath) -> None:
    """Bind what the user is shown now to the place and state it is about."""
    with contextlib.suppress(PathProblem, NotRegularFile):
        context.state(FileMemory).approved[context.call_id] = fingerprint(file.lexical)


def check_approval(context: ToolContext, file: ResolvedPath) -> None:
    """Refuse if the place is no longer what the user was shown."""
    approved = context.state(FileMemory).approved.pop(context.call_id, None)
    if approved is not None and (why := still_same(approved)):
        raise ToolFailure(
            f"{show_path(file)} was not written: {why} (the user was asked before that). "
            "Read it again, then retry."
        )


def commit(change: FileEdit, doing: Doing) -> FileIdentity:
    """Write it, whole or not at all; the identity of what is there now."""
    real = change.file.real
    try:
        if not change.existed:
            os.close(open_directory(os.path.dirname(real), create=True))  # noqa: PTH120
        write_atomic(real, change.data, follow_parents=False)
        return read_identity(real)
    except OSError as error:
        raise failure(change.file, error, doing) from error


def unencodable(text: str, error: UnicodeEncodeError) -> str:
    """Which character an encoding cannot hold."""
    character = text[error.start]
    return f"{character!r} (U+{ord(character):04X})"
