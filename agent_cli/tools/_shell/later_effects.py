"""Watches over files that make something run later, where the sandbox cannot protect them."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Sequence

from agent_cli.core.display import DiffBlock
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.language import trn
from agent_cli.safety.paths import Workspace
from agent_cli.safety.reasons import because
from agent_cli.safety.sandbox import (
    KeptFile,
    PathDifference,
    Picture,
    SensitiveFinder,
    find_differences,
    repeat,
    restore,
    take_picture,
)
from agent_cli.tools._diffs import diff_block

_MAX_NAMED = 10
_MAX_SHOWN_BYTES = 100_000
"""Of one file: more is cut in a diff."""


class LaterEffects:
    """Undoes what confined commands did to such files, and asks whether it may stand."""

    def __init__(self) -> None:
        self._finder = SensitiveFinder()
        self._before: Picture | None = None
        """How they were before a confined command that may still run; None: none runs."""
        self._workspace: Workspace | None = None
        self._also: tuple[str, ...] = ()
        """Where else such a command can move something."""

    async def begin(self, workspace: Workspace, temporary: str | None) -> None:
        """Remember them; a confined command is about to start."""
        self._workspace = workspace
        self._also = (temporary,) if temporary else ()
        if self._before is None:
            self._before = await asyncio.to_thread(self._look, workspace, None)

    async def check(
        self, context: ToolContext, *, is_running: bool = False, may_ask: bool = True
    ) -> str:
        """Undo what was done to them, ask about it, and return what to tell the model.

        `is_running` if a confined command still runs and could do it again.
        """
        if self._before is None:
            return ""
        workspace, before = context.workspace, self._before
        differences, failed = await asyncio.to_thread(self._undo, workspace, before)
        note = ""
        if differences:
            if may_ask and await _is_agreed(differences, context):
                failed = await asyncio.to_thread(repeat, differences)
                before = _with(before, differences)
                note = f"the user agreed to the changes to {_names(differences, workspace)}"
            else:
                note = (
                    f"changes to {_names(differences, workspace)} were undone: such files make "
                    "something run, so the user has to agree to changes, and did not"
                )
        if failed:
            note += f"; could not be restored: {', '.join(failed[:_MAX_NAMED])}"
        # Not as they are now: what still runs may have changed them while the question was open.
        self._before = before if is_running else None
        return note

    async def close(self) -> None:
        """Undo what commands in the background did until they were ended."""
        if self._before is not None and self._workspace is not None:
            await asyncio.to_thread(self._undo, self._workspace, self._before)

    def _look(self, workspace: Workspace, known: Picture | None) -> Picture:
        roots = (workspace.root, *workspace.added)
        return take_picture(self._finder.find(roots).protected, known, roots)

    def _undo(
        self, workspace: Workspace, before: Picture
    ) -> tuple[Sequence[PathDifference], list[str]]:
        differences = find_differences(before, self._look(workspace, before))
        return differences, restore(differences, (workspace.root, *workspace.added, *self._also))


def _with(picture: Picture, differences: Sequence[PathDifference]) -> Picture:
    """The picture after these changes."""
    changed = {each.path: each.after for each in differences}
    kept = {path: state for path, state in picture.items() if path not in changed}
    return kept | {path: state for path, state in changed.items() if state is not None}


async def _is_agreed(differences: Sequence[PathDifference], context: ToolContext) -> bool:
    """Whether the user agrees; nobody can to what they could not be shown whole."""
    states = (state for each in differences for state in (each.before, each.after))
    if context.agree is None or not all(map(_can_be_shown, states)):
        return False
    shown = _as_one_diff(differences, context.workspace)
    return await context.agree(because("changes_what_runs"), shown)


def _names(differences: Sequence[PathDifference], workspace: Workspace) -> str:
    names = [os.path.relpath(each.path, workspace.root) for each in differences]
    rest = len(names) - _MAX_NAMED
    return ", ".join(names[:_MAX_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _as_one_diff(differences: Sequence[PathDifference], workspace: Workspace) -> DiffBlock:
    blocks = [
        diff_block(os.path.relpath(each.path, workspace.root), *_texts(each))
        for each in differences
    ]
    return DiffBlock(
        path=trn("{n:,} file", "{n:,} files", len(blocks)) if len(blocks) > 1 else blocks[0].path,
        diff="\n".join(block.diff for block in blocks if block.diff),
        added=sum(block.added for block in blocks),
        removed=sum(block.removed for block in blocks),
    )


def _texts(difference: PathDifference) -> tuple[str, str]:
    """What was there and what is there, with the modes if those differ."""
    both = before, after = difference.before, difference.after
    has_other_mode = before is None or after is None or before.mode != after.mode
    first, second = (_text(each, with_mode=has_other_mode) for each in both)
    return first, second


def _can_be_shown(kept: KeptFile | None) -> bool:
    if kept is None or stat.S_ISDIR(kept.kind):
        return True
    is_text = b"\0" not in kept.content and len(kept.content) <= _MAX_SHOWN_BYTES
    return kept.is_whole and is_text and (stat.S_ISREG(kept.kind) or stat.S_ISLNK(kept.kind))


def _text(kept: KeptFile | None, *, with_mode: bool) -> str:
    if kept is None or stat.S_ISDIR(kept.kind):
        return ""
    if stat.S_ISLNK(kept.kind):
        return f"link to {os.fsdecode(kept.content)}\n"
    if not kept.is_whole or not stat.S_ISREG(kept.kind):
        return "(not shown)\n"
    mode = f"mode {kept.mode:04o}\n" if with_mode and kept.mode & 0o111 else ""
    return mode + kept.content.decode("utf-8", "replace")
