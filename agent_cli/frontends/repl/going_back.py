"""Undo, redo and going back inline: preview, question, and what came of it."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from rich.text import Text

from agent_cli.controller.answers import Answer
from agent_cli.controller.undo_words import (
    MOST_LISTED,
    called,
    file_line,
    heading,
    moment_answers,
    no,
    rewinds,
    yes,
)
from agent_cli.core.undo.plan import Preview
from agent_cli.core.undo.undoing import Moment, Undoing
from agent_cli.frontends.repl import drawing
from agent_cli.frontends.repl.stage import Stage
from agent_cli.frontends.repl.talk import Talk
from agent_cli.frontends.shared.going_back import (
    WENT_BACK,
    carried_out,
    earlier_prompts,
    settled,
    with_files,
)
from agent_cli.lib.language import mark, tr
from agent_cli.safety.sanitise import visible

_WHERE = mark("Go back to before which prompt?")


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
            self._talk.say_busy()
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
            choices = await settled(preview, self._root, self._choose)
            if choices is None:
                return False
            notice = await carried_out(self._talk.session, preview, choices)
        tell = self._teller.warn if notice.level == "warning" else self._teller.note
        tell(notice.text)
        return True

    async def _choose(self, heading: str, answers: Sequence[Answer]) -> str:
        return await self._stage.choose(heading, answers, leave="no")

    def _show(self, preview: Preview) -> None:
        lines = [Text(visible(called(r), one_line=True)) for r in preview.records[:MOST_LISTED]]
        if not preview.files:
            lines.append(Text(tr("All files are as they were already.")))
        for plan in preview.files[:MOST_LISTED]:
            name, fate = file_line(plan, self._root, preview.kind)
            style = drawing.WAITING if plan.outcome in ("conflict", "lost") else drawing.DIM
            lines.append(Text.assemble(f"  {name}  ", (fate, style)))
        if len(preview.files) > MOST_LISTED:
            lines.append(Text(tr("and {n:,} more", n=len(preview.files) - MOST_LISTED)))
        self._stage.paper.put(Text(""), *lines)

    async def _rewind(self) -> None:
        session = self._talk.session
        moment = await self._moment(await earlier_prompts(session))
        if moment is None:
            return
        what = await self._stage.choose(tr("What goes back?"), rewinds(), leave="leave")
        if what == "leave":
            return
        if what != "conversation" and not await with_files(session, moment, self._carry_out):
            return
        if what != "files" and moment.entry is not None:
            session.rewind(moment.entry, WENT_BACK)
            self._teller.note(tr("The conversation is as it was before that prompt."))
        self._stage.prefill(moment.prompt)

    async def _moment(self, moments: Sequence[Moment]) -> Moment | None:
        page = 0
        while True:
            answers = moment_answers(moments, page)
            match await self._stage.choose(tr(_WHERE), answers, leave="leave"):
                case "leave":
                    return None
                case "earlier":
                    page += 1
                case turn:
                    return next(each for each in moments if each.turn == int(turn))
