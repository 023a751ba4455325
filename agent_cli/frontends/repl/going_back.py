"""Undo, redo and going back inline: preview, question, and what came of it."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from rich.text import Text

from agent_cli.core.errors import UserError
from agent_cli.core.undo import Choice, Preview
from agent_cli.core.undoing import Moment, Undoing
from agent_cli.frontends.repl import drawing
from agent_cli.frontends.repl.stage import Stage
from agent_cli.frontends.repl.talk import BUSY, Talk
from agent_cli.frontends.shared.undo_words import (
    MOST_LISTED,
    called,
    conflict_answers,
    file_line,
    heading,
    moment_answers,
    no,
    outcome,
    rewinds,
    yes,
)
from agent_cli.safety.sanitise import visible

_WHERE = "Go back to before which prompt?"


class GoingBack:
    """Nothing is done while a turn is under way."""

    def __init__(self, talk: Talk, stage: Stage) -> None:
        self._talk = talk
        self._teller = talk.teller
        self._stage = stage
        self._is_busy = False

    def undo(self, scope: str) -> None:
        """Ask about taking back the last call or turn, or a call by its id."""
        self._start(self._ask(lambda: self._undoing.preview(scope)))

    def redo(self) -> None:
        """Ask about bringing back what was undone last."""
        self._start(self._ask(self._undoing.preview_redo))

    def rewind(self) -> None:
        """Ask where to go back to."""
        self._start(self._rewind())

    @property
    def _undoing(self) -> Undoing:
        return self._talk.session.undoing

    @property
    def _root(self) -> str:
        return self._talk.session.workspace.root

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        if self._talk.is_busy or self._is_busy:
            work.close()
            self._teller.warn(*BUSY)
            return
        self._is_busy = True
        self._talk.background(self._ended(work))

    async def _ended(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        finally:
            self._is_busy = False
            self._talk.changed()

    async def _ask(self, preview: Callable[[], Awaitable[Preview]]) -> None:
        await self._carry_out(await preview())

    async def _carry_out(self, preview: Preview) -> bool:
        """Ask about the files and do it; False: the person wants none of it."""
        self._show(preview)
        with self._stage.paper.held():
            if await self._stage.choose(heading(preview), (no(), yes(preview))) != "yes":
                return False
            choices: dict[str, Choice] = {}
            for plan in preview.conflicts:
                name, fate = file_line(plan, self._root, preview.kind)
                asked = f"You changed this file since: {name} ({fate})"
                match await self._stage.choose(asked, conflict_answers(plan), leave="no"):
                    case "keep" | "restore" | "markers" as choice:
                        choices[plan.path] = choice
                    case _:
                        return False
            restored = await self._undoing.apply(preview, choices)
        notice = outcome(preview, restored, self._root)
        self._talk.session.note(notice)
        tell = self._teller.warn if notice.level == "warning" else self._teller.note
        tell(notice.text)
        return True

    def _show(self, preview: Preview) -> None:
        lines = [Text(visible(called(r), one_line=True)) for r in preview.records[:MOST_LISTED]]
        if not preview.files:
            lines.append(Text("All files are as they were already."))
        for plan in preview.files[:MOST_LISTED]:
            name, fate = file_line(plan, self._root, preview.kind)
            style = drawing.WAITING if plan.outcome in ("conflict", "lost") else drawing.DIM
            lines.append(Text.assemble(f"  {name}  ", (fate, style)))
        if len(preview.files) > MOST_LISTED:
            lines.append(Text(f"and {len(preview.files) - MOST_LISTED:,} more"))
        self._stage.paper.put(Text(""), *lines)

    async def _rewind(self) -> None:
        moments = await self._undoing.moments()
        if not moments:
            raise UserError("There is no earlier prompt to go back to.")
        moment = await self._moment(moments)
        if moment is None:
            return
        what = await self._stage.choose("What goes back?", rewinds(), leave="leave")
        if what == "leave":
            return
        if what != "conversation":
            preview = await self._undoing.preview_since(moment.turn)
            if preview.records and not await self._carry_out(preview):
                return
        if what != "files" and moment.entry is not None:
            self._talk.session.rewind(moment.entry, "the person went back")
            self._teller.note("The conversation is as it was before that prompt.")
        self._stage.prefill(moment.prompt)

    async def _moment(self, moments: list[Moment] | tuple[Moment, ...]) -> Moment | None:
        page = 0
        while True:
            match await self._stage.choose(_WHERE, moment_answers(moments, page), leave="leave"):
                case "leave":
                    return None
                case "earlier":
                    page += 1
                case turn:
                    return next(each for each in moments if each.turn == int(turn))
