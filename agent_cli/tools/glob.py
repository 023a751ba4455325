"""Finds files by name."""

import asyncio
import heapq
import os
import re
from collections.abc import Iterator
from typing import Any

from pydantic import Field

from agent_cli.core.display import TextBlock
from agent_cli.core.errors import refuse
from agent_cli.core.tool import (
    Description,
    StatusTexts,
    Target,
    Tool,
    ToolKind,
    ToolParams,
    ToolResult,
)
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.language import mark, tr, trn
from agent_cli.lib.text import plural
from agent_cli.tools._aliases import other_names
from agent_cli.tools._files import title
from agent_cli.tools._glob import alternatives, matcher, split_base
from agent_cli.tools._listing import list_files, may_be_read
from agent_cli.tools._places import PLACE_ALIASES, PathNames, SearchRoot, find_place, newest_first
from agent_cli.tools._ripgrep import globs, options

MAX_SHOWN = 200
MAX_SORTED = 10_000
"""Files whose times are looked up; asking for more would take longer than finding them."""
_NAME_TYPE = "agentglob"
_ALL_PATTERNS = ("*", "**", "**/*")


class Params(ToolParams):
    """What to find."""

    pattern: str = Field(min_length=1, max_length=4_000)
    """Glob, relative to path: "**/*.py"."""
    path: str = "."
    """Directory to search."""


async def run(params: Params, context: ToolContext) -> ToolResult:
    """Find the files and put the newest first."""
    start, rest = split_base(params.path, params.pattern)
    if ".." in rest.split("/"):
        raise refuse(
            "In a pattern, .. is only allowed before the first wildcard.",
            "Give the directory to search as path.",
        )
    place = find_place(start, context)
    if place.is_file:
        raise refuse(f"{start} is a file.", "Give a directory as path, or use Read.")
    found, left_out = may_be_read(await _find(place, rest, context), context)
    note = left_out
    if not found and "[" in rest:
        found, left_out = may_be_read(
            await _find(place, re.sub(r"([\[\]])", r"\\\1", rest), context), context
        )
        note = "[ and ] were taken literally: as a class of characters they match nothing."
    return await _result(found, params, note, context)


async def _find(place: SearchRoot, rest: str, context: ToolContext) -> list[str]:
    """The paths at a place that match the rest of the pattern."""
    patterns = alternatives(rest + "**" if rest.endswith("/") else rest)
    matches = matcher(patterns)
    cut = len(place.prefix)
    named = list(_named_files(place, patterns))
    found: list[str] = []
    async for paths in list_files(_command(patterns, rest), place.directory, context):
        found += paths if rest in _ALL_PATTERNS else [path for path in paths if matches(path[cut:])]
    return list({*found, *named}) if named else found


def _named_files(place: SearchRoot, patterns: list[str]) -> Iterator[str]:
    """What is named without a wildcard is meant, even if it is ignored or a link."""
    for pattern in patterns:
        path = place.prefix + pattern.lstrip("/")
        if not set(pattern) & set("*?[\\") and os.path.isfile(path):  # noqa: PTH113
            yield path


def _command(patterns: list[str], rest: str) -> Any:
    hidden = any(part.startswith(".") for p in patterns for part in p.split("/"))
    command = options(hidden=hidden)
    command.command += globs([], named=rest)
    if all("/" in pattern and "**" not in pattern for pattern in patterns):
        command.max_depth(max(pattern.strip("/").count("/") + 1 for pattern in patterns))
    names = [pattern.rsplit("/", 1)[-1] for pattern in patterns]
    if all(_is_plain(name) for name in names):
        # Unlike a glob a type leaves ignored files ignored, and what is not listed is not parsed.
        command.command += [f"--type-add={_NAME_TYPE}:{name}" for name in names]
        command.command.append(f"--type={_NAME_TYPE}")
    return command


def _is_plain(name: str) -> bool:
    """Whether ripgrep reads a name's pattern exactly as we do."""
    return name not in ("", "*") and "**" not in name and not set(name) & set(":\\!{}[]")


def _first_by_name(found: list[str]) -> list[str]:
    return heapq.nsmallest(MAX_SHOWN, found)


async def _result(found: list[str], params: Params, note: str, context: ToolContext) -> ToolResult:
    sortable = len(found) <= MAX_SORTED
    ordered = await asyncio.to_thread(newest_first if sortable else _first_by_name, found)
    names = PathNames(context)
    listed = "\n".join(names.format(path) for path in ordered[:MAX_SHOWN])
    notes = [note] if note else []
    if len(found) > MAX_SHOWN:
        which = "the newest" if sortable else "the first by name; there are too many to order,"
        notes.append(f"{which} {MAX_SHOWN} of {plural(len(found), 'file')}: narrow the pattern.")
    if not found:
        return ToolResult(
            llm_content=" ".join([f"No files match {params.pattern[:200]}.", *notes]),
            summary=tr("No files found"),
            metadata={"files": 0},
        )
    return ToolResult(
        llm_content="\n".join([listed, *(f"[{note[:1].upper()}{note[1:]}]" for note in notes)]),
        display=(TextBlock(text=listed),),
        summary=trn("Found {n:,} file", "Found {n:,} files", len(found)),
        metadata={"files": len(found)},
    )


TOOL = Tool(
    name="Glob",
    kind=ToolKind.READONLY,
    params=Params,
    run=run,
    description=Description.beside(__file__),
    targets=lambda params: (Target("path", split_base(params.path, params.pattern)[0]),),
    title=lambda params: title(params.pattern[:80]),
    aliases=("find_files", "file_search", "glob_search", "find", "find_file", "search_file_names"),
    param_aliases=PLACE_ALIASES
    | other_names(pattern="glob glob_pattern query file_pattern name", path="cwd"),
    category="search",
    tags=("search", "files"),
    status=StatusTexts(mark("Finding files…"), mark("Search failed")),
)
