"""Undo, redo and rewind: preview, question, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_cli.controller import undo_words as words
from agent_cli.controller.view import Menu, MenuRow
from agent_cli.core.errors import UserError
from agent_cli.core.undo.undo_plan import Choice, Preview
from agent_cli.core.undo.undoing import RewindPoint
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import visible

if TYPE_CHECKING:
    from agent_cli.controller.controller import Controller

REWIND_REASON = "rewind"
"""Why the log of a session continues from an earlier entry."""


async def undo(controller: Controller, scope: str) -> None:
    """Ask about undoing the last "call" or "turn", or a call by its id."""
    with controller.exclusively():
        await _confirm(controller, await controller.session.undoing.preview(scope))


async def redo(controller: Controller) -> None:
    """Ask about redoing what was undone last."""
    with controller.exclusively():
        await _confirm(controller, await controller.session.undoing.preview_redo())


async def rewind(controller: Controller) -> None:
    """Ask which prompt to go back to, and what to restore."""
    with controller.exclusively():
        await _Rewinding(controller).run()


async def _confirm(controller: Controller, preview: Preview) -> bool:
    """Ask about the files and do it; False: the user declined."""
    root = controller.session.workspace.root
    menu = Menu(words.heading(preview), (words.no(), words.yes(preview)), _rows(preview, root))
    if await controller.view.choose(menu) != "yes":
        return False
    choices = await _settle_conflicts(controller, preview)
    if choices is None:
        return False
    restored = await controller.session.undoing.apply(preview, choices)
    notice = words.outcome(preview, restored, root)
    controller.session.note(notice)
    controller.view.show(notice)
    return True


async def _settle_conflicts(controller: Controller, preview: Preview) -> dict[str, Choice] | None:
    """What becomes of each conflict, asked one by one; None: the user declined."""
    choices: dict[str, Choice] = {}
    for plan in preview.conflicts:
        name, fate = words.file_line(plan, controller.session.workspace.root, preview.kind)
        heading = tr("You changed this file since")
        menu = Menu(heading, words.conflict_answers(plan), (MenuRow(name, fate),), leave="")
        match await controller.view.choose(menu):
            case "keep" | "restore" | "markers" as choice:
                choices[plan.path] = choice
            case _:
                return None
    return choices


def _rows(preview: Preview, root: str) -> list[MenuRow]:
    rows = [
        MenuRow(visible(words.describe_call(record), one_line=True), emphasis="muted")
        for record in preview.records[: words.MAX_LISTED]
    ]
    rows.append(MenuRow(""))
    if not preview.files:
        rows.append(MenuRow(tr("All files are already as they were.")))
    for plan in preview.files[: words.MAX_LISTED]:
        name, fate = words.file_line(plan, root, preview.kind)
        is_doubtful = plan.outcome in ("conflict", "lost")
        rows.append(MenuRow(name, fate, "warning" if is_doubtful else "normal"))
    if len(preview.files) > words.MAX_LISTED:
        rows.append(MenuRow(tr("and {n:,} more", n=len(preview.files) - words.MAX_LISTED)))
    return rows


@dataclass
class _Rewinding:
    """First which prompt, then what to restore."""

    controller: Controller

    async def run(self) -> None:
        session = self.controller.session
        moments = await session.undoing.moments()
        if not moments:
            raise UserError(tr("There is no earlier prompt to go back to."))
        moment = await self._choose_moment(moments)
        if moment is None:
            return
        later = [each for each in moments if each.turn >= moment.turn]
        what = await self.controller.view.choose(
            Menu(
                tr("What do you want to restore?"),
                words.rewinds(),
                words.moment_rows(later, session.workspace.root),
                leave="leave",
            )
        )
        if what == "leave" or (what != "conversation" and not await self._restore_files(moment)):
            return
        if what != "files" and moment.entry is not None:
            self.controller.show_again(session.rewind(moment.entry, REWIND_REASON).events)
        self.controller.view.prefill(moment.prompt)

    async def _choose_moment(self, moments: Sequence[RewindPoint]) -> RewindPoint | None:
        page = 0
        while True:
            options = words.moment_answers(moments, page)
            menu = Menu(tr("Go back to before which prompt?"), options, leave="leave")
            match await self.controller.view.choose(menu):
                case "leave":
                    return None
                case "earlier":
                    page += 1
                case turn:
                    return next(each for each in moments if each.turn == int(turn))

    async def _restore_files(self, moment: RewindPoint) -> bool:
        preview = await self.controller.session.undoing.preview_since(moment.turn)
        return not preview.records or await _confirm(self.controller, preview)
