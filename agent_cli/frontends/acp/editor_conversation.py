"""What an editor asks of one session: prompts, modes, cancelling."""

from collections.abc import Sequence

from acp import RequestError
from acp.interfaces import Client
from acp.schema import PromptResponse, SessionMode, SessionModeState, StopReason, Usage

from agent_cli.commands import all_commands
from agent_cli.commands.mode import MEANINGS
from agent_cli.controller.endings import has_failed, stop_reason
from agent_cli.controller.slash_command import find
from agent_cli.controller.wording import sentences
from agent_cli.core.errors import UserError
from agent_cli.core.events import TurnFinished
from agent_cli.core.messages import Content
from agent_cli.core.session import Session
from agent_cli.frontends.acp.editor_view import EditorView
from agent_cli.frontends.acp.prompts import Sent, read_prompt
from agent_cli.lib.language import tr

FAILED = -32603
EXTENSIONS_TIMEOUT_S = 60.0
"""After this, commands of extensions that are still missing are not advertised."""


class Conversation:
    """One prompt at a time."""

    def __init__(
        self, session: Session, client: Client, notes: Sequence[str], *, has_forms: bool
    ) -> None:
        self.session = session
        self._view = EditorView(session, client, notes, has_forms=has_forms)
        self._controller = self._view.controller
        self._is_prompting = False

    @property
    def modes(self) -> SessionModeState:
        """The permission modes that can be chosen, and the current one."""
        return SessionModeState(
            current_mode_id=self.session.mode.value,
            available_modes=[
                SessionMode(id=mode.value, name=mode.value, description=tr(MEANINGS[mode]))
                for mode in self._controller.modes
            ],
        )

    def set_mode(self, mode: str) -> None:
        """Change the permission mode; raises UserError."""
        self._view.known_mode = mode  # the editor asked for it
        self._controller.set_mode(mode)

    async def prompt(self, blocks: Sequence[Sent]) -> PromptResponse:
        """Play a turn or carry out a command; raises UserError, and RequestError if it fails."""
        if self._is_prompting:
            raise UserError(
                tr("The agent is still working."), hint=tr("Cancel the turn first, or wait.")
            )
        content = read_prompt(blocks, self.session.workspace.root)
        self._is_prompting = True
        try:
            with self._view.prompting():
                return await self._answer(content)
        finally:
            self._is_prompting = False

    async def _answer(self, content: Content) -> PromptResponse:
        before = self._controller.finished
        if isinstance(content, str) and self._is_command(content):
            self._controller.submit(content)
        else:
            self._controller.send(content)
        await self._controller.idle()
        finished = self._controller.finished
        if finished is not None and finished is not before:
            return await self._conclude(finished)
        await self._view.flush()
        return PromptResponse(stop_reason="cancelled" if self._view.was_cancelled else "end_turn")

    def _is_command(self, text: str) -> bool:
        """Whether it is a slash command; anything else is for the model."""
        name = text[1:].strip().partition(" ")[0]
        known = [*all_commands(), *self._controller.commands]
        return text.startswith("/") and find(name, known) is not None

    async def _conclude(self, finished: TurnFinished) -> PromptResponse:
        reason: StopReason = "end_turn"
        if finished.reason == "interrupted":
            reason = "cancelled"
        elif why := stop_reason(finished):
            self._view.notify(sentences(why, finished.hint))
            reason = "max_turn_requests" if finished.reason == "step_limit" else "end_turn"
        await self._view.flush()
        if has_failed(finished):
            error = finished.error or tr("The turn failed.")
            raise RequestError(FAILED, sentences(error, finished.hint))
        used = finished.usage
        usage = Usage(
            total_tokens=used.input_tokens + used.output_tokens,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cached_read_tokens=used.cached_tokens,
        )
        return PromptResponse(stop_reason=reason, usage=usage)

    def cancel(self) -> None:
        """End what is under way."""
        if not self._controller.interrupt():
            self._view.was_cancelled = True
            self._controller.command_work.cancel()

    def begin(self) -> None:
        """Tell what can be typed after a slash, and get the model ready."""
        self._controller.begin(shows_past=False)
        self._controller.background.start(self._advertise(), tr("Listing the commands failed"))

    async def _advertise(self) -> None:
        self._controller.start_extensions()
        told = self._view.advertise()
        await self.session.extensions.wait_ready(EXTENSIONS_TIMEOUT_S)
        if len(self._controller.commands) != told:
            self._view.advertise()

    async def replay(self) -> None:
        """Tell what happened before the session was resumed."""
        self._view.replay(self.session.past.events)
        await self._view.flush()

    async def close(self) -> None:
        """End everything that is under way, and the session."""
        await self._controller.close()
        await self.session.close()
