"""How a replacement is shown: line by line for the model, as diffs for the user."""

from collections.abc import Iterable, Iterator

from agent_cli.core.display import DiffBlock
from agent_cli.lib.language import trn
from agent_cli.tools._places import PathNames
from agent_cli.tools._replacing import FileChange, Hunk, ReplacePlan

_MAX_LINES = 300
_MAX_BLOCKS = 50
_MAX_DIFF_LINES = 2_000
_MAX_LINE_CHARS = 300
_BEFORE = 80


def listing(plan: ReplacePlan, names: PathNames) -> str:
    """Each changed line before and after, by file; bounded, and it says so."""
    lines: list[str] = []
    for shown, change in enumerate(plan.changes):
        if len(lines) >= _MAX_LINES:
            lines.append(f"[{len(plan.changes) - shown:,} more files are not shown.]")
            break
        lines.append(f"{names.format(change.path)} ({change.matches:,})")
        for hunk in change.hunks[: max(1, _MAX_LINES - len(lines))]:
            lines += [f"{number}{mark} {text}" for number, mark, text in _number(hunk)]
    return "\n".join(lines)


def diffs(plan: ReplacePlan, names: PathNames) -> tuple[DiffBlock, ...]:
    """One block for each of the first files."""
    return tuple(_block(change, names) for change in plan.changes[:_MAX_BLOCKS])


def one_diff(plan: ReplacePlan, names: PathNames) -> DiffBlock:
    """All files in one block, for the question whether to go on."""
    blocks = [_block(change, names) for change in plan.changes]
    lines = [line for block in blocks for line in block.diff.split("\n")]
    if len(lines) > _MAX_DIFF_LINES:
        left = len(lines) - _MAX_DIFF_LINES
        more = trn("… {n:,} more line is not shown", "… {n:,} more lines are not shown", left)
        lines = [*lines[:_MAX_DIFF_LINES], more]
    return DiffBlock(
        path=plan.figures,
        diff="\n".join(lines),
        added=sum(block.added for block in blocks),
        removed=sum(block.removed for block in blocks),
    )


def _block(change: FileChange, names: PathNames) -> DiffBlock:
    path = names.format(change.path)
    lines = [f"--- {path}", f"+++ {path}"]
    added = removed = 0
    for hunk in change.hunks:
        old, new = _split(hunk.before), _split(hunk.after)
        lines.append(f"@@ -{hunk.line},{len(old)} +{hunk.line + added - removed},{len(new)} @@")
        lines += [f"{mark}{text}" for _, mark, text in _number(hunk)]
        added, removed = added + len(new), removed + len(old)
    return DiffBlock(path=path, diff="\n".join(lines), added=added, removed=removed)


def _number(hunk: Hunk) -> Iterator[tuple[int, str, str]]:
    old, new = _split(hunk.before), _split(hunk.after)
    pairs = zip(hunk.before, hunk.after, strict=False)
    differ = next((n for n, (one, other) in enumerate(pairs) if one != other), 0)
    start = max(0, differ - _BEFORE) if len(old) == len(new) == 1 else 0
    yield from _mark(old, "-", hunk.line, start)
    yield from _mark(new, "+", hunk.line, start)


def _mark(
    lines: Iterable[str], mark: str, first: int, start: int
) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(lines, first):
        if len(line) <= _MAX_LINE_CHARS:
            yield number, mark, line
            continue
        part = line[start : start + _MAX_LINE_CHARS]
        end = "…" if start + _MAX_LINE_CHARS < len(line) else ""
        yield number, mark, f"{'…' if start else ''}{part}{end}"


def _split(text: str) -> list[str]:
    """The lines of a text; a line break ends a line and begins none."""
    return text.removesuffix("\n").split("\n") if text else []
