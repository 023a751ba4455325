"""The files a conversation touched last, as they are on disk now."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agent_cli.core.compaction.shortening import FileText
from agent_cli.core.errors import ToolFailure
from agent_cli.core.messages import AssistantMessage, Message, ToolCall, ToolMessage
from agent_cli.core.registry import Registry
from agent_cli.lib.files import open_direct
from agent_cli.safety.paths import PathProblem, ResolvedPath, Workspace

MAX_FILES = 5


@dataclass(frozen=True)
class RecentFiles:
    """Files that are read again, and those that are too large for it."""

    files: tuple[FileText, ...] = ()
    too_large: tuple[str, ...] = ()


def recent_files(
    messages: Sequence[Message],
    registry: Registry,
    workspace: Workspace,
    *,
    clean: Callable[[str], str],
    room: int,
) -> RecentFiles:
    """The last few text files that calls were about, newest first, in at most `room` bytes.

    Only files of the workspace that hold no secrets by their name: permission for anything else
    was given for one call, not for reading it again unasked.
    """
    files: list[FileText] = []
    too_large: list[str] = []
    for path in _find_touched(messages, registry, workspace):
        data = _read(path, room)
        if data is None:
            continue
        name = os.path.relpath(path.real, workspace.root)
        if len(data) > room:
            too_large.append(name)
            continue
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            continue
        room -= len(data)
        files.append(FileText(name, clean(text)))
        if len(files) == MAX_FILES:
            break
    return RecentFiles(tuple(files), tuple(too_large[:MAX_FILES]))


def _find_touched(
    messages: Sequence[Message], registry: Registry, workspace: Workspace
) -> Iterator[ResolvedPath]:
    """Each file once, the one touched last first."""
    failed = {m.call_id for m in messages if isinstance(m, ToolMessage) and m.is_error}
    seen: set[str] = set()
    for message in reversed(messages):
        calls = message.calls if isinstance(message, AssistantMessage) else ()
        for call in reversed(calls):
            for path in () if call.id in failed else _paths(call, registry, workspace):
                if path.real not in seen:
                    seen.add(path.real)
                    yield path


def _paths(call: ToolCall, registry: Registry, workspace: Workspace) -> Iterator[ResolvedPath]:
    tool = registry.get(call.name)
    if tool is None:
        return
    try:
        targets = tool.bind(call.arguments).targets
    except ToolFailure:
        return
    for target in targets:
        if target.kind != "path":
            continue
        try:
            path = workspace.resolve(target.value, cwd=target.base)
        except PathProblem:
            continue
        facts = workspace.facts(path)
        if path.is_inside and path.exists and not (facts.secret or facts.own or facts.special):
            yield path


def _read(path: ResolvedPath, room: int) -> bytes | None:
    """What the file holds, a byte more than fits at most; None: it cannot be read."""
    try:
        descriptor = open_direct(path.real)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(room + 1)
