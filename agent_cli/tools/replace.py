"""Replaces text across files."""

import re
from typing import Any, Self

from pydantic import Field, model_validator

from agent_cli.core.display import Display
from agent_cli.core.errors import ToolFailure
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
from agent_cli.lib.language import mark, tr
from agent_cli.lib.text import plural
from agent_cli.tools._aliases import names, other_names
from agent_cli.tools._batch import write_all
from agent_cli.tools._files import MAX_EDITABLE_BYTES, FileMemory, resolve, title, to_the_end
from agent_cli.tools._glob import Globs, split_list
from agent_cli.tools._places import PLACE_ALIASES, PathNames, find_place
from agent_cli.tools._replace_report import diffs, listing, one_diff
from agent_cli.tools._replacing import FileChange, ReplacePlan, make_plan
from agent_cli.tools._ripgrep import MAX_PATTERN_CHARS, globs, options
from agent_cli.tools._secrets import Secrets


class Params(ToolParams):
    """What to replace by what, and where."""

    pattern: str = Field(min_length=1, max_length=MAX_PATTERN_CHARS)
    """Regular expression."""
    replacement: str = Field(max_length=MAX_PATTERN_CHARS)
    path: str = "."
    """File or directory."""
    glob: Globs | None = None
    """Only these files: "*.{ts,tsx}". Commas separate."""
    exclude: Globs | None = None
    """Not these files."""
    multiline: bool = False
    """Let matches span lines; "." then matches newlines too."""
    preview: bool = True

    @model_validator(mode="after")
    def _groups_are_clear(self) -> Self:
        if found := re.search(r"(?<!\$)(?:\$\$)*\$(\d+)([A-Za-z_])", self.replacement):
            number, letter = found[1], found[2]
            raise ValueError(
                f"in the replacement ${number}{letter}… names a group of that whole name; "
                f"write ${{{number}}}{letter}… for group {number}"
            )
        return self


class Plans(dict[str, ReplacePlan]):
    """The plan the user is asked about, by call, kept so that exactly this one is carried out."""

    def keep(self, call_id: str, plan: ReplacePlan) -> None:
        """Only the last one, since it holds many files: calls of this tool follow each other."""
        self.clear()
        self[call_id] = plan


async def run(params: Params, context: ToolContext) -> ToolResult:
    """Show what would change, or change it."""
    plan = context.state(Plans).get(context.call_id) or await _plan(params, context)
    context.state(Plans).clear()
    notes = await _notes(params, plan, context)
    if not plan.changes:
        said = mark("The replacement changes nothing") if plan.unchanged else mark("No matches")
        return ToolResult(llm_content="\n".join([f"{said}.", *notes]), summary=tr(said))
    names = PathNames(context)
    if params.preview:
        head = f"Preview: {plan.total}. Nothing was changed; to apply it, set preview to false."
        summary = tr("Would replace {figures}", figures=plan.figures)
        body = listing(plan, names)
    else:
        await _apply(plan, context)
        summary = tr("Replaced {figures}", figures=plan.figures)
        head = f"Replaced {plan.total}"
        body = "\n".join(f"{names.format(c.path)}: {c.matches:,}" for c in plan.changes)
    return ToolResult(
        llm_content="\n".join([head, *notes, "", body]),
        display=diffs(plan, names),
        summary=summary,
        metadata={"matches": plan.matches, "files": len(plan.changes), "preview": params.preview},
    )


async def discover(params: Params, context: ToolContext) -> tuple[Target, ...]:
    """The files that would be written; what cannot be done fails before anybody is asked."""
    if params.preview:
        return ()
    plan = await _plan(params, context)
    _require_possible(plan)
    if not plan.changes:
        raise ToolFailure(
            "Nothing was changed: no matches, or every match already equals its replacement."
        )
    context.state(Plans).keep(context.call_id, plan)
    return tuple(Target("path", change.path, "write") for change in plan.changes)


async def preview(params: Params, context: ToolContext) -> Display | None:
    """The changes of all files as one diff."""
    if params.preview:
        return None
    plan = context.state(Plans).get(context.call_id) or await _plan(params, context)
    context.state(Plans).keep(context.call_id, plan)
    return one_diff(plan, PathNames(context)) if plan.changes else None


async def _plan(params: Params, context: ToolContext) -> ReplacePlan:
    place = find_place(params.path, context)
    secrets = Secrets(place, context)
    command = _scope(params)
    command.command += secrets.arguments
    command.json().crlf().max_filesize(str(MAX_EDITABLE_BYTES))
    if params.multiline:
        command.multiline().multiline_dotall()
    command.command += [f"--replace={params.replacement}", f"--regexp={params.pattern}"]
    return await make_plan(command, place, secrets, context)


def _scope(params: Params) -> Any:
    wanted = split_list(params.glob or "")
    left_out = [f"!{glob.removeprefix('!')}" for glob in split_list(params.exclude or "")]
    command = options()
    command.command += globs([*wanted, *left_out], named=f"{params.path}/{params.glob or ''}")
    return command


async def _apply(plan: ReplacePlan, context: ToolContext) -> None:
    """Write all files of a plan, or none; what the session knew of them it knows still."""
    _require_possible(plan)
    memory = context.state(FileMemory)
    known = {change.path for change in plan.changes if _is_known(change, memory, context)}

    def work() -> None:
        for change, identity in write_all(plan.changes, context.cancelled):
            if change.path in known:
                memory.remember(change.path, identity, change.new)

    await to_the_end(work, context.cancelled, f"By then {plan.total} had been replaced.")


def _require_possible(plan: ReplacePlan) -> None:
    if plan.refused:
        reasons = " ".join(plan.refused[:5])
        raise ToolFailure(
            f"Nothing was changed, because some files cannot be: {reasons}",
            details="Leave them out with exclude, or fix the cause.",
        )


def _is_known(change: FileChange, memory: FileMemory, context: ToolContext) -> bool:
    try:
        memory.require_current(resolve(context, change.path), change.identity, change.old)
    except ToolFailure:
        return False
    return True


async def _notes(params: Params, plan: ReplacePlan, context: ToolContext) -> list[str]:
    place = find_place(params.path, context)
    listing_command = _scope(params).files().null()
    notes = [await Secrets(place, context).note(listing_command, context)]
    if plan.binary:
        notes.append(f"{plural(len(plan.binary), 'binary file')} left out: {plan.binary[0]} …")
    if plan.refused and params.preview:
        notes.append("Cannot be changed: " + " ".join(plan.refused[:5]))
    if re.search(r"\\\d|\\g<", params.replacement):
        notes.append(r"A backslash is literal in a replacement: groups are $1, not \1.")
    return [f"[{note}]" for note in notes if note]


TOOL = Tool(
    name="Replace",
    kind=ToolKind.WRITE,
    kind_of=lambda params: ToolKind.READONLY if params.preview else ToolKind.WRITE,
    params=Params,
    run=run,
    discover=discover,
    preview=preview,
    description=Description.beside(__file__),
    targets=lambda params: (Target("path", params.path, "read" if params.preview else "write"),),
    title=lambda params: f"{title(params.pattern[:60])} → {title(params.replacement[:60])}",
    aliases=names(
        "replace_in_files search_and_replace find_and_replace replace_all bulk_replace "
        "file_search_replace sed"
    ),
    param_aliases=PLACE_ALIASES
    | other_names(
        pattern="search regex find query search_pattern",
        replacement="replace replace_with substitution",
        glob="include file_pattern",
        exclude="exclude_pattern ignore",
        preview="dry_run preview_only",
    ),
    category="search",
    tags=("search", "regex", "change"),
    status=StatusTexts(mark("Replacing…"), mark("Replace failed")),
)
