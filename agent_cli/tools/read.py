"""Reads a file."""

import asyncio
import base64
import os
import threading
from dataclasses import dataclass

from pydantic import Field, JsonValue

from agent_cli.core.display import ImageBlock, TextBlock
from agent_cli.core.errors import ToolFailure, refuse
from agent_cli.core.messages import ImagePart, TextPart
from agent_cli.core.tool import Description, StatusTexts, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.encodings import SAMPLE, UTF_8, breaks_of, detect, invalid_bytes
from agent_cli.lib.filekinds import Image, certainly_binary, image, kind_by_content
from agent_cli.lib.files import FileIdentity, NotRegularFile, open_direct, read_identity
from agent_cli.lib.language import mark, tr, trn
from agent_cli.lib.text import plural, size
from agent_cli.safety.paths import ResolvedPath
from agent_cli.tools._aliases import names, other_names
from agent_cli.tools._documents import MAX_BYTES, document_kind, document_text
from agent_cli.tools._files import (
    MAX_EDITABLE_BYTES,
    PATH_ALIASES,
    FileMemory,
    failure,
    path_target,
    read_small,
    resolve,
    show_path,
    title,
)
from agent_cli.tools._languages import language_of
from agent_cli.tools._lines import MAX_LINE_CHARS, Page, blocks_of, take_page
from agent_cli.tools._nearby import listing, missing

_DEFAULT_LIMIT = 2000
_ONLY_BY_RANGE = 50_000_000
_MAX_IMAGE_BYTES = 3_750_000
"""Bytes; base64 makes five megabytes of it, the most that providers take."""


class Params(ToolParams):
    """What to read."""

    file_path: str
    """Absolute or relative to the workspace."""
    offset: int | None = Field(None, ge=1)
    """First line, from 1."""
    limit: int | None = Field(None, ge=1)
    """Lines; default 2000."""
    pages: str = ""
    """Of a PDF: "3", "1-5", "1,4-6"."""


@dataclass(frozen=True)
class _OpenFile:
    """A regular file, open."""

    file: ResolvedPath
    descriptor: int
    identity: FileIdentity
    head: bytes
    max_chars: int
    """How much of it fits into one result."""


async def run(params: Params, context: ToolContext) -> ToolResult:
    """Read what is asked for, and remember that it was read."""
    file = resolve(context, params.file_path)
    try:
        result, identity, data = await asyncio.to_thread(_read, file, params, context)
    except NotRegularFile as error:
        if error.kind != "a directory":
            raise failure(file, error, "read") from error
        raise await asyncio.to_thread(_directory, file) from error
    except FileNotFoundError as error:
        raise await asyncio.to_thread(missing, file, context.workspace) from error
    except OSError as error:
        raise failure(file, error, "read") from error
    context.state(FileMemory).remember(file.real, identity, data)
    return result


def _read(
    file: ResolvedPath, params: Params, context: ToolContext
) -> tuple[ToolResult, FileIdentity, bytes | None]:
    descriptor = open_direct(file.real)
    try:
        head = os.pread(descriptor, SAMPLE, 0)
        identity, view = read_identity(descriptor), context.session
        opened = _OpenFile(file, descriptor, identity, head, view.text_chars)
        if picture := image(head) if certainly_binary(head) else None:
            return _picture(opened, picture, takes_images=view.takes_images), identity, None
        if kind := document_kind(file.real, head):
            return _document(opened, kind, params, context.cancelled), identity, None
        if params.pages:
            raise refuse(f"{show_path(file)} has no pages: use offset and limit instead.")
        return _text(opened, params, context.cancelled)
    finally:
        os.close(descriptor)


def _text(
    opened: _OpenFile, params: Params, cancelled: threading.Event
) -> tuple[ToolResult, FileIdentity, bytes | None]:
    identity, data = read_small(opened.descriptor)
    if identity.size > _ONLY_BY_RANGE and params.offset is None and params.limit is None:
        raise refuse(
            f"{show_path(opened.file)} is {size(identity.size)}, too large to read "
            "whole. Set offset and limit, or search it with Grep."
        )
    sample = opened.head if data is None else data
    encoding = None if certainly_binary(opened.head) else detect(sample, whole=data is not None)
    if encoding is None:
        kind = kind_by_content(opened.head) or "binary data"
        raise ToolFailure(
            f"{show_path(opened.file)} is {kind} ({size(identity.size)}), not text. "
            "Use Bash with a program that can read it."
        )
    text = encoding.decode(sample)
    breaks = breaks_of(text)
    page = take_page(
        blocks_of(opened.descriptor if data is None else data, encoding, cancelled),
        encoding,
        params.offset or 1,
        params.limit or _DEFAULT_LIMIT,
        max_chars=opened.max_chars,
        count_all=data is not None or MAX_EDITABLE_BYTES < identity.size <= _ONLY_BY_RANGE,
        line_break=b"\r" if breaks == "CR" else b"\n",
    )
    notes = [encoding.name] if encoding != UTF_8 else []
    notes += [f"{breaks} line breaks"] if breaks not in ("LF", "none") else []
    if invalid := invalid_bytes(text):
        notes.append(f"{plural(invalid, 'byte')} that are not valid UTF-8, shown as \ufffd")
    about = _about(opened, identity, encoding=encoding.name, line_breaks=breaks)
    result = _page_result(opened, page, notes, about)
    return result, identity, data


def _page_result(
    opened: _OpenFile, page: Page, notes: list[str], about: dict[str, JsonValue]
) -> ToolResult:
    """The lines for the model, the same for the user, and where to go on."""
    if page.total == 0:
        summary, told = tr("Read an empty file"), "[The file is empty.]"
    elif not page.lines:
        lines = plural(page.total or 0, "line")
        raise refuse(
            f"offset {page.first:,} is past the end: {show_path(opened.file)} has {lines}."
        )
    else:
        summary, told = _figures(page), page.numbered
    if page.lines and (page.has_more or page.first > 1):
        of = f" of {page.total:,}" if page.total else ""
        more = f"; continue with offset={page.last + 1}" if page.has_more else "; this is the end"
        notes = [f"lines {page.first}-{page.last}{of}{more}", *notes]
    if page.cut:
        notes.append(f"{plural(page.cut, 'line')} cut after {MAX_LINE_CHARS:,} characters")
    if opened.file.via_link:
        notes.append(f"symbolic link to {title(opened.file.real)}")
    language = language_of(opened.file.real)
    return ToolResult(
        llm_content=told + "".join(f"\n[{note}]" for note in notes),
        display=(TextBlock(text="\n".join(page.lines), language=language, first_line=page.first),),
        summary=summary,
        metadata={
            **about,
            "first_line": page.first,
            "lines": len(page.lines),
            "total_lines": page.total,
            "has_more": page.has_more,
        },
    )


def _figures(page: Page) -> str:
    count = len(page.lines)
    if page.total in (None, count):
        return trn("Read {n:,} line", "Read {n:,} lines", count)
    return tr("Read {n:,} of {total:,} lines", n=count, total=page.total)


def _about(opened: _OpenFile, identity: FileIdentity, **more: JsonValue) -> dict[str, JsonValue]:
    return {"path": title(opened.file.real), "size": identity.size, **more}


def _document(
    opened: _OpenFile, kind: str, params: Params, cancelled: threading.Event
) -> ToolResult:
    if opened.identity.size > MAX_BYTES:
        raise ToolFailure(
            f"{show_path(opened.file)} ({kind} document) is "
            f"{size(opened.identity.size)}; the limit is {size(MAX_BYTES)}."
        )
    _, data = read_small(opened.descriptor, MAX_BYTES)
    try:
        text = document_text(kind, data or b"", params.pages, cancelled)
    except ToolFailure as problem:
        said = f"{show_path(opened.file)}: {problem.message}"
        raise ToolFailure(said, type=problem.type) from problem
    page = take_page(
        iter([text.encode("utf-8", "replace")] if text else []),
        UTF_8,
        params.offset or 1,
        params.limit or _DEFAULT_LIMIT,
        max_chars=opened.max_chars,
        count_all=True,
    )
    about = _about(opened, opened.identity, document=kind)
    return _page_result(opened, page, [f"{kind} document, shown as text"], about)


def _picture(opened: _OpenFile, picture: Image, *, takes_images: bool) -> ToolResult:
    taken = opened.identity.size
    words = f"{picture.name}, {size(taken)}"
    block = ImageBlock(
        path=title(opened.file.real),
        media_type=picture.media_type,
        width=picture.width,
        height=picture.height,
    )
    told = f"{show_path(opened.file)}: {words}"
    pictures: tuple[ImagePart, ...] = ()
    if not takes_images:
        told += ". This model does not accept images."
    elif taken > _MAX_IMAGE_BYTES:
        limit = size(_MAX_IMAGE_BYTES)
        told += f". That is too large (the limit is {limit}); make a smaller copy with Bash."
    else:
        _, data = read_small(opened.descriptor, _MAX_IMAGE_BYTES)
        encoded = base64.b64encode(data or b"").decode("ascii")
        pictures = (ImagePart(media_type=picture.media_type, data=encoded),)
    return ToolResult(
        llm_content=(TextPart(text=told), *pictures),
        display=(block,),
        summary=tr("Read a {image}", image=words),
        metadata=_about(opened, opened.identity, width=picture.width, height=picture.height),
    )


def _directory(file: ResolvedPath) -> ToolFailure:
    try:
        held = listing(file.real)
    except OSError as error:
        return failure(file, error, "list")
    said = f"{show_path(file)} is a directory, not a file. It contains:"
    return ToolFailure(said, details=held)


def _title(params: Params) -> str:
    name = title(params.file_path)
    if params.pages:
        return tr("{file} pages {pages}", file=name, pages=params.pages[:20])
    if params.offset is None and params.limit is None:
        return name
    first = params.offset or 1
    if params.limit is None:
        return tr("{file} from line {line}", file=name, line=first)
    return f"{name} {first}-{first + params.limit - 1}"


TOOL = Tool(
    name="Read",
    kind=ToolKind.READONLY,
    params=Params,
    run=run,
    description=Description.beside(__file__),
    targets=path_target("file_path"),
    title=_title,
    category="files",
    tags=("file", "text", "pdf", "image"),
    aliases=names(
        "read_file readFile file_read view view_file open open_file cat get_file load_file "
        "read_text_file read_pdf view_image NotebookRead"
    ),
    param_aliases=PATH_ALIASES
    | other_names(
        offset="start_line line_start from_line start",
        limit="max_lines line_count num_lines lines",
        pages="page page_range",
    ),
    status=StatusTexts(mark("Reading…"), mark("Read failed")),
)
