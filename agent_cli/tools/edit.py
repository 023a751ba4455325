"""Replaces text in a file."""

import itertools
import json
from collections.abc import Sequence
from functools import partial
from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from agent_cli.core.display import Display
from agent_cli.core.errors import ToolFailure
from agent_cli.core.tool import Description, StatusTexts, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.encodings import Encoding, detect
from agent_cli.lib.filekinds import certainly_binary, kind_by_content
from agent_cli.lib.language import mark, tr, trn
from agent_cli.lib.text import plural, size
from agent_cli.safety.paths import ResolvedPath
from agent_cli.tools._aliases import names, other_names
from agent_cli.tools._changes import ExistingFile, FileEdit, carry_out, look, show, unencodable
from agent_cli.tools._diffs import diff_block
from agent_cli.tools._files import (
    MAX_EDITABLE_BYTES,
    PATH_ALIASES,
    FileMemory,
    check_cancelled,
    path_target,
    show_path,
    title,
)
from agent_cli.tools._matching import LineNumbers, Passages, replace_matches
from agent_cli.tools._misses import explain
from agent_cli.tools._nearby import missing

_MAX_NAMED = 10


class Replacement(ToolParams):
    """One passage and what takes its place."""

    old_string: str = Field(min_length=1)
    new_string: str
    replace_all: bool = False

    @model_validator(mode="before")
    @classmethod
    def _other_names(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {_ALIASES.get(name, name): value for name, value in data.items()}

    @model_validator(mode="after")
    def _differs(self) -> Self:
        if self.old_string == self.new_string:
            raise ValueError("old_string and new_string are identical: nothing to change")
        return self


class Params(ToolParams):
    """What to replace: one passage, or a list of them."""

    file_path: str
    """Absolute or relative to the workspace."""
    old_string: str | None = None
    new_string: str | None = None
    replace_all: bool = False
    edits: list[Replacement] | None = None
    """Instead of old_string and new_string."""

    @field_validator("edits", mode="before")
    @classmethod
    def _from_text(cls, given: Any) -> Any:
        if isinstance(given, str):
            try:
                given = json.loads(given, strict=False) if given.strip() else None
            except ValueError as error:
                raise ValueError("must be a list, not a text") from error
        return [given] if isinstance(given, dict) else given

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.edits and (self.old_string or self.new_string):
            raise ValueError("give either old_string and new_string, or edits, not both")
        if self.edits:
            return self
        if self.old_string is None or self.new_string is None:
            raise ValueError("give old_string and new_string, or edits")
        if not self.old_string:
            raise ValueError(
                "old_string is empty: give the text to replace, or use Write to create a file"
            )
        if self.old_string == self.new_string:
            raise ValueError("old_string and new_string are identical: nothing to change")
        return self

    @property
    def replacements(self) -> Sequence[Replacement]:
        """All of them, in order."""
        if self.edits:
            return self.edits
        return (
            Replacement(
                old_string=self.old_string or "",
                new_string=self.new_string or "",
                replace_all=self.replace_all,
            ),
        )


async def run(params: Params, context: ToolContext) -> ToolResult:
    """Edit the file and remember its new state."""
    return _result(
        await carry_out(partial(plan, params, context), params.file_path, context, "edit")
    )


async def preview(params: Params, context: ToolContext) -> Display | None:
    """The change as a diff; what cannot be edited fails here, before anybody is asked."""
    return await show(partial(plan, params, context), params.file_path, context)


def plan(params: Params, context: ToolContext, file: ResolvedPath, memory: FileMemory) -> FileEdit:
    """What would be written, or why it cannot be."""
    replacements, existing = params.replacements, look(file, "edit")
    if existing is None:
        problem = missing(file, context.workspace)
        raise ToolFailure(f"{problem.message} To create a file, use Write.")
    if existing.data is None:
        raise ToolFailure(
            f"{show_path(file)} is {size(existing.identity.size)}; files over "
            f"{size(MAX_EDITABLE_BYTES)} cannot be edited. Use Bash with sed or a short script."
        )
    memory.require_current(file, existing.identity, existing.data)
    before, encoding = _text(file, existing)
    after = before
    places: list[int] = []
    for number, replacement in enumerate(replacements, 1):
        check_cancelled(context.cancelled)
        try:
            after, lines = _apply(after, replacement, file)
        except ToolFailure as failure:
            if len(replacements) == 1:
                raise
            raise _one_of_several(failure, number, len(replacements)) from failure
        places += lines
    if after == before:
        raise ToolFailure(
            f"{show_path(file)} was not edited: the result is identical to the current content."
        )
    data = _encode(file, after, encoding)
    return FileEdit(file, before, after, data, encoding, lines=tuple(places))


def _text(file: ResolvedPath, existing: ExistingFile) -> tuple[str, Encoding]:
    data = existing.data or b""
    encoding = None if certainly_binary(data) else detect(data)
    if encoding is None:
        kind = kind_by_content(data) or "binary data"
        raise ToolFailure(f"{show_path(file)} is {kind}; only text can be edited.")
    text = encoding.decode_exactly(data)
    if text is None:
        raise ToolFailure(
            f"{show_path(file)} contains bytes that are not {encoding.name}; an edit "
            "would corrupt them. Use Bash with sed or a short script."
        )
    return text, encoding


def _one_of_several(failure: ToolFailure, number: int, total: int) -> ToolFailure:
    said = f"Edit {number} of {total}: {failure.message} None of the edits were made."
    return ToolFailure(said, type=failure.type, details=failure.details)


def _apply(text: str, replacement: Replacement, file: ResolvedPath) -> tuple[str, list[int]]:
    """The text with one replacement made, and the lines where."""
    passages = Passages(text)
    old, new = replacement.old_string, replacement.new_string
    if replacement.replace_all:
        matches = list(passages.find(old))
    else:
        matches = list(itertools.islice(passages.find(old, overlapping=True), _MAX_NAMED + 1))
    if not matches:
        raise _not_found(passages, old, file)
    numbers = LineNumbers(text)
    lines = [numbers.at(match.start) for match in matches]
    if len(matches) > 1 and not replacement.replace_all:
        named = ", ".join(map(str, lines[:_MAX_NAMED]))
        found = f"{len(matches)} places"
        if len(matches) > _MAX_NAMED:
            named, found = f"{named} and more", f"over {_MAX_NAMED} places"
        raise ToolFailure(
            f"old_string matches {found} in {show_path(file)} (lines {named}). "
            "Add surrounding lines to make it unique, or set replace_all."
        )
    return replace_matches(text, matches, new), lines


def _not_found(passages: Passages, old: str, file: ResolvedPath) -> ToolFailure:
    miss = explain(passages.plain, old.replace("\r\n", "\n"))
    said = f"old_string was not found in {show_path(file)}; it must match exactly. {miss.reason}"
    if file.real.endswith(".ipynb"):
        said = f"{said} The file is a notebook: Read shows its cells, but the file itself is JSON."
    return ToolFailure(said, details=miss.passage)


def _encode(file: ResolvedPath, text: str, encoding: Encoding) -> bytes:
    try:
        return encoding.encode(text)
    except UnicodeEncodeError as error:
        raise ToolFailure(
            f"{show_path(file)} is encoded as {encoding.name}, which cannot represent "
            f"{unencodable(text, error)}. Use other characters, or ask the user "
            "whether to convert the file to UTF-8."
        ) from error


def _result(change: FileEdit) -> ToolResult:
    block = diff_block(title(change.file.real), change.before, change.after)
    count = len(change.lines)
    where = ", ".join(map(str, change.lines[:_MAX_NAMED]))
    where += ", …" if count > _MAX_NAMED else ""
    figures = tr(
        "{replacements}, +{added:,} −{removed:,} lines",
        replacements=trn("{n:,} replacement", "{n:,} replacements", count),
        added=block.added,
        removed=block.removed,
    )
    total = f"{plural(count, 'replacement')}, +{block.added:,} −{block.removed:,} lines"
    at = "line" if count == 1 else "lines"
    return ToolResult(
        llm_content=f"Edited {show_path(change.file)} at {at} {where} ({total}).{change.remarks}",
        display=(block,),
        summary=tr("Made {figures}", figures=figures),
        metadata={
            "path": title(change.file.real),
            "replacements": count,
            "added": block.added,
            "removed": block.removed,
            "encoding": change.encoding.name,
        },
    )


_ALIASES = other_names(
    old_string="oldString old_str oldStr oldText old_text old search find old_content oldContent "
    "target from",
    new_string="newString new_str newStr newText new_text new replace replacement new_content "
    "newContent to",
    replace_all="replaceAll all global allow_multiple",
)

TOOL = Tool(
    name="Edit",
    kind=ToolKind.WRITE,
    params=Params,
    run=run,
    preview=preview,
    description=Description.beside(__file__),
    targets=path_target("file_path", "write"),
    title=lambda params: title(params.file_path),
    category="files",
    tags=("file", "change"),
    aliases=names(
        "edit_file editFile file_edit MultiEdit multi_edit str_replace str_replace_editor "
        "str_replace_based_edit_tool search_replace apply_edit apply_diff replace_in_file "
        "update_file modify_file"
    ),
    param_aliases={**PATH_ALIASES, **_ALIASES, "replacements": "edits", "changes": "edits"},
    status=StatusTexts(mark("Editing…"), mark("Edit failed")),
)
