"""Creates a file or replaces its content."""

from functools import partial

from agent_cli.core.display import Display
from agent_cli.core.tool import Description, StatusTexts, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.encodings import UTF_8, Encoding, breaks_of, detect
from agent_cli.lib.language import mark, tr, trn
from agent_cli.lib.text import plural, size
from agent_cli.safety.paths import ResolvedPath
from agent_cli.tools._aliases import names, other_names
from agent_cli.tools._changes import ExistingFile, FileEdit, carry_out, look, show, unencodable
from agent_cli.tools._diffs import diff_block
from agent_cli.tools._files import PATH_ALIASES, FileMemory, path_target, show_path, title


class Params(ToolParams):
    """What to write."""

    file_path: str
    """Absolute or relative to the workspace."""
    content: str
    """The whole new content."""


async def run(params: Params, context: ToolContext) -> ToolResult:
    """Write the file and remember its new state."""
    return _result(await carry_out(partial(plan, params), params.file_path, context, "write"))


async def preview(params: Params, context: ToolContext) -> Display | None:
    """The change as a diff; what cannot be written fails here, before anybody is asked."""
    return await show(partial(plan, params), params.file_path, context)


def plan(params: Params, file: ResolvedPath, memory: FileMemory) -> FileEdit:
    """What would be written, or why it must not be."""
    content, existing = params.content, look(file, "write")
    if existing is None:
        return FileEdit(file, "", content, content.encode(), UTF_8, existed=False)
    if existing.identity.size:  # nothing is lost with an empty file
        memory.require_current(file, existing.identity, existing.data)
    before, encoding, notes = _form(existing)
    if breaks_of(before) == "CRLF" and "\r" not in content:
        content = content.replace("\n", "\r\n")
    if encoding.bom:
        content = content.removeprefix("\ufeff")
    try:
        data = encoding.encode(content)
    except UnicodeEncodeError as error:
        what = unencodable(content, error)
        notes = (*notes, f"written as UTF-8, since {encoding.name} cannot hold {what}")
        encoding, data = UTF_8, content.encode()
    return FileEdit(file, before, content, data, encoding, notes)


def _form(existing: ExistingFile) -> tuple[str, Encoding, tuple[str, ...]]:
    """The old text and its encoding, as far as it is text."""
    if existing.data is None:
        return "", UTF_8, (f"the old content was {size(existing.identity.size)}",)
    encoding = detect(existing.data)
    if encoding is None:
        return "", UTF_8, ("the old content was not text",)
    return encoding.decode(existing.data), encoding, ()


def _result(change: FileEdit) -> ToolResult:
    block = diff_block(title(change.file.real), change.before, change.after)
    lines = change.after.count("\n") + (not change.after.endswith("\n") and bool(change.after))
    in_lines = trn("{n:,} line", "{n:,} lines", lines)
    in_bytes = trn("{n:,} byte", "{n:,} bytes", len(change.data))
    figures = tr("{lines}, {bytes}", lines=in_lines, bytes=in_bytes)
    verb, said = "Created", mark("Created {figures}")
    if change.existed:
        verb, said = "Overwrote", mark("Overwrote {figures}")
    total = f"{plural(lines, 'line')}, {plural(len(change.data), 'byte')}"
    return ToolResult(
        llm_content=f"{verb} {show_path(change.file)} ({total}).{change.remarks}",
        display=(block,),
        summary=tr(said, figures=figures),
        metadata={
            "path": title(change.file.real),
            "created": not change.existed,
            "lines": lines,
            "bytes": len(change.data),
            "encoding": change.encoding.name,
            "added": block.added,
            "removed": block.removed,
        },
    )


TOOL = Tool(
    name="Write",
    kind=ToolKind.WRITE,
    params=Params,
    run=run,
    preview=preview,
    description=Description.beside(__file__),
    targets=path_target("file_path", "write"),
    title=lambda params: title(params.file_path),
    category="files",
    tags=("file", "create"),
    aliases=names(
        "write_file writeFile file_write create create_file createFile save_file saveFile "
        "write_to_file overwrite_file new_file"
    ),
    param_aliases=PATH_ALIASES
    | other_names(content="contents text data file_text file_content code body"),
    status=StatusTexts(mark("Writing…"), mark("Write failed")),
)
