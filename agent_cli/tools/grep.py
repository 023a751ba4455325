"""Searches the contents of files."""

import asyncio
import time
from typing import Any, Literal

from pydantic import Field

from agent_cli.core.display import TableBlock, TextBlock
from agent_cli.core.tool import Description, StatusTexts, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.language import mark, tr
from agent_cli.lib.text import plural
from agent_cli.tools import _matches
from agent_cli.tools._aliases import names, other_names
from agent_cli.tools._files import path_target, title
from agent_cli.tools._findings import Findings, FoundFiles, FoundLines
from agent_cli.tools._glob import Globs, split_list
from agent_cli.tools._places import PLACE_ALIASES, SearchRoot, find_place
from agent_cli.tools._ripgrep import MAX_PATTERN_CHARS, globs, options, ripgrep
from agent_cli.tools._secrets import Secrets

MAX_RESULTS = 2_000
"""Results in one answer, whatever is asked for."""
_COUNTING_ON = 0.25
"""Seconds to count on after the limit, so that the answer can say how many more there are."""


class Params(ToolParams):
    """What to search for."""

    pattern: str = Field(min_length=1, max_length=MAX_PATTERN_CHARS)
    """Regular expression."""
    path: str = "."
    """File or directory."""
    glob: Globs | None = None
    """Only these files: "*.{ts,tsx}"; "!*.min.js" leaves out. Commas separate."""
    type: str | None = None
    """Only files of a type: py, js, rust …"""
    output_mode: Literal["content", "files_with_matches", "count"] = "content"
    before: int = Field(0, ge=0, le=100)
    """Lines of context before each match."""
    after: int = Field(0, ge=0, le=100)
    context: int = Field(0, ge=0, le=100)
    """Lines before and after."""
    ignore_case: bool = False
    multiline: bool = False
    """Let matches span lines; "." then matches newlines too."""
    head_limit: int = Field(100, ge=0)
    """Most matches (or files) to return."""


async def run(params: Params, context: ToolContext) -> ToolResult:
    """Search, showing what is found as it is found."""
    place = find_place(params.path, context)
    secrets = Secrets(place, context)
    limit = min(params.head_limit or MAX_RESULTS, MAX_RESULTS)
    findings: Findings = (
        FoundLines(limit, secrets, context, marked=params.multiline)
        if params.output_mode == "content"
        else FoundFiles(limit, secrets, context, params.output_mode)
    )
    problems = await _search(params, place, secrets, findings, context)
    listing = _scope(params).files().null()
    notes = [await secrets.note(listing, context), *_problem_notes(problems)]
    text, block = await asyncio.to_thread(findings.report, context.session.text_chars)
    told = "\n".join(note for note in (*findings.notes, *notes) if note)
    return ToolResult(
        llm_content=f"{text}\n\n{told}" if told else text,
        display=(block,) if isinstance(block, TableBlock | TextBlock) else (),
        summary=findings.summary,
        metadata={"matches": findings.matches, "files": findings.files, "whole": findings.whole},
    )


async def _search(
    params: Params, place: SearchRoot, secrets: Secrets, findings: Findings, context: ToolContext
) -> tuple[str, ...]:
    """Fill the findings; returns what could not be searched."""
    command = _command(params, secrets)
    until = None
    async with ripgrep(command, context, directory=place.directory, paths=[place.real]) as rg:
        while chunk := await rg.read():
            findings.feed(chunk)
            if findings.full and until is None:
                until = time.monotonic() + _COUNTING_ON
            if findings.overfull or (until is not None and time.monotonic() > until):
                rg.stop()
        findings.finish(whole=not rg.stopped)
        return await rg.problems()


def _scope(params: Params) -> Any:
    """Which files: what the search and the count of secret files have in common."""
    wanted = split_list(params.glob or "")
    command = options(hidden=True)
    command.command += globs(wanted, named=f"{params.path}/{params.glob or ''}")
    if params.type:
        command.command.append(f"--type={params.type}")
    return command


def _command(params: Params, secrets: Secrets) -> Any:
    command = _scope(params)
    command.command += secrets.arguments
    if params.ignore_case:
        command.ignore_case()
    if params.multiline:
        command.multiline().multiline_dotall()
    if "$" in params.pattern:
        command.crlf()
    if params.output_mode == "content":
        command.command += _matches.ARGUMENTS
        command.command += [_matches.MARK_BEGINNINGS] if params.multiline else []
        command.before_context(params.before or params.context)
        command.after_context(params.after or params.context)
    elif params.output_mode == "count":
        command.command += ["--count", "--null", "--with-filename"]
    else:
        command.files_with_matches().null()
    command.command.append(f"--regexp={params.pattern}")
    return command


def _problem_notes(problems: tuple[str, ...]) -> list[str]:
    if not problems:
        return []
    return [f"{plural(len(problems), 'path')} could not be searched, such as {problems[0]}."]


TOOL = Tool(
    name="Grep",
    kind=ToolKind.READONLY,
    params=Params,
    run=run,
    description=Description.beside(__file__),
    targets=path_target("path"),
    title=lambda params: tr(
        "{pattern} in {path}", pattern=title(params.pattern[:80]), path=title(params.path)
    ),
    aliases=names(
        "grep_search ripgrep rg search search_files search_file_content search_text search_code "
        "code_search search_in_files grep_files"
    ),
    param_aliases=PLACE_ALIASES
    | other_names(
        pattern="query regex search regexp search_pattern",
        glob="include include_pattern file_pattern",
        type="file_type",
        output_mode="mode",
        ignore_case="-i case_insensitive",
        after="-A after_context",
        before="-B before_context",
        context="-C context_lines",
        head_limit="max_results limit max_matches",
    )
    | {"-n": "", "line_numbers": ""},
    category="search",
    tags=("search", "regex", "files"),
    status=StatusTexts(mark("Searching…"), mark("Search failed")),
)
