"""Undo, redo and going back on the screen: preview, question, and what came of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from textual.app import App

from agent_cli.core.errors import UserError
from agent_cli.core.undo.plan import Preview
from agent_cli.core.undo.undoing import Undoing
from agent_cli.frontends.shared.going_back import (
    WENT_BACK,
    carried_out,
    earlier_prompts,
    with_files,
)
from agent_cli.frontends.tui.blocks.notice import NoticeBlock
from agent_cli.frontends.tui.modals.rewind import Rewind, RewindModal
from agent_cli.frontends.tui.modals.undo import UndoModal
from agent_cli.frontends.tui.transcript import Transcript
from agent_cli.lib.language import tr

if TYPE_CHECKING:
    from agent_cli.frontends.tui.chat import Chat


class GoingBack:
    """One question at a time; nothing is done while a turn is under way."""

    def __init__(
        self,
        app: App[Any],
        chat: Chat,
        transcript: Transcript,
        put_into_prompt: Callable[[str], None],
    ) -> None:
        self._app = app
        self._chat = chat
        self._transcript = transcript
        self._put_into_prompt = put_into_prompt
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
        return self._chat.session.undoing

    @property
    def _root(self) -> str:
        return self._chat.session.workspace.root

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        if self._chat.is_busy:
            work.close()
            self._chat.warn(tr("A turn is under way."), tr("Interrupt it with Esc first."))
        elif self._is_busy:
            work.close()
        else:
            self._is_busy = True
            self._app.run_worker(self._guarded(work), exclusive=False)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except UserError as error:
            self._chat.warn(error.message, error.hint)
        except Exception as error:  # a broken undo must not end the session
            self._chat.own_fault(tr("going back failed"), error)
        finally:
            self._is_busy = False
            self._chat.changed()

    async def _ask(self, preview: Callable[[], Awaitable[Preview]]) -> None:
        await self._carry_out(await preview())

    async def _carry_out(self, preview: Preview) -> bool:
        """Ask about the files and do it; False: the person wants none of it."""
        choices = await self._app.push_screen_wait(UndoModal(preview, self._root))
        if choices is None:
            return False
        notice = await carried_out(self._chat.session, preview, choices)
        self._transcript.add(NoticeBlock(notice.text, level=notice.level))
        return True

    async def _rewind(self) -> None:
        session = self._chat.session
        moments = await earlier_prompts(session)
        wanted = await self._app.push_screen_wait(RewindModal(moments, self._root))
        if wanted is None:
            return
        moves_files = wanted.what != "conversation"
        if moves_files and not await with_files(session, wanted.moment, self._carry_out):
            return
        if wanted.what != "files":
            self._go_back(wanted)

    def _go_back(self, wanted: Rewind) -> None:
        """The conversation as it was, and the prompt in the input once more."""
        if wanted.moment.entry is not None:
            history = self._chat.session.rewind(wanted.moment.entry, WENT_BACK)
            self._chat.show_again(history.events)
        self._put_into_prompt(wanted.moment.prompt)
