"""Changing a file: what it was, what becomes of it, and the one way it is written."""

import os
import stat
from dataclasses import dataclass

from agent_cli.core.errors import ToolFailure
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.encodings import Encoding
from agent_cli.lib.files import (
    FileIdentity,
    NotRegularFile,
    open_directory,
    open_regular,
    read_identity,
    write_atomic,
)
from agent_cli.safety.paths import PathProblem, ResolvedPath, fingerprint, still_same
from agent_cli.tools._files import FileMemory, failure, read_small, shown


@dataclass(frozen=True)
class Existing:
    """A file that is there, as it is now."""

    identity: FileIdentity
    data: bytes | None
    """None for a file too large to be held."""


@dataclass(frozen=True)
class Change:
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


def look(file: ResolvedPath, doing: str) -> Existing | None:
    """The file as it is, None if there is none; what must not be changed is refused."""
    try:
        descriptor = open_regular(file.real)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise failure(file, error, doing) from error
    try:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        if not mode & 0o222 or not os.access(file.real, os.W_OK):
            raise ToolFailure(
                f"{shown(file)} cannot be {doing}: it is write-protected (mode {mode:04o}). "
                "Ask the person before you change that."
            )
        return Existing(*read_small(descriptor))
    finally:
        os.close(descriptor)


def note_approval(context: ToolContext, file: ResolvedPath) -> None:
    """Bind what the person is shown now to the place and state it is about."""
    try:
        context.state(FileMemory).approved[context.call_id] = fingerprint(file.lexical)
    except (PathProblem, NotRegularFile):
        return


def check_approval(context: ToolContext, file: ResolvedPath) -> None:
    """Refuse if the place is no longer what the person was shown."""
    approved = context.state(FileMemory).approved.pop(context.call_id, None)
    if approved is not None and (why := still_same(approved)):
        raise ToolFailure(
            f"{shown(file)} was not written: since the person was asked, {why}. Look again."
        )


def commit(change: Change, doing: str) -> FileIdentity:
    """Write it, whole or not at all; the identity of what is there now."""
    real = change.file.real
    try:
        if not change.existed:
            os.close(open_directory(os.path.dirname(real), create=True))  # noqa: PTH120
        write_atomic(real, change.data, follow_parents=False)
        return read_identity(real)
    except OSError as error:
        raise failure(change.file, error, doing) from error


def links_note(file: ResolvedPath) -> tuple[str, ...]:
    """What a person and the model should know about the way to the file."""
    notes = []
    if file.via_link:
        notes.append(f"the path leads through a link to {file.real}")
    if file.names > 1:
        notes.append(f"the file had {file.names} names; the others keep the old content")
    return tuple(notes)


def unencodable(text: str, error: UnicodeEncodeError) -> str:
    """Which character an encoding cannot hold."""
    character = text[error.start]
    return f"{character!r} (U+{ord(character):04X})"
