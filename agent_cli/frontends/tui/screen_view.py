"""The full-screen app as its controller sees it: draws events, asks questions, shows the status."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from agent_cli.controller.controller import Controller
from agent_cli.controller.endings import ending_text
from agent_cli.controller.requests import request_title
from agent_cli.controller.slash_command import Command
from agent_cli.controller.view import Menu
from agent_cli.core import events as ev
from agent_cli.core.errors import UserError
from agent_cli.core.inbox import ApprovalRequest, PlanRequest, Request, RequestAnswer
from agent_cli.core.session import Session
from agent_cli.core.system_prompt import git_branch
from agent_cli.frontends.shared.approval_text import where
from agent_cli.frontends.tui.blocks.banner_block import GUIDE_TIPS, TIPS, BannerBlock
from agent_cli.frontends.tui.blocks.reply_block import ReplyBlock
from agent_cli.frontends.tui.meter import Meter
from agent_cli.frontends.tui.modals.approval_modal import ApprovalModal
from agent_cli.frontends.tui.modals.help_modal import HelpModal
from agent_cli.frontends.tui.modals.menu import MenuModal
from agent_cli.frontends.tui.modals.plan_modal import PlanModal
from agent_cli.frontends.tui.modals.question_modal import QuestionModal
from agent_cli.frontends.tui.notify import notify_terminal
from agent_cli.frontends.tui.panel import ChangedFile, Overview
from agent_cli.frontends.tui.status import Status
from agent_cli.frontends.tui.transcript_writer import TranscriptWriter
from agent_cli.launch_options import Resume
from agent_cli.lib.language import tr
from agent_cli.models.guide import NAME as GUIDE
from agent_cli.safety.sanitise import visible
from agent_cli.storage.session_store import Sessions
from agent_cli.tools._shell.background_jobs import Jobs
from agent_cli.tools.todo_write import TodoList

if TYPE_CHECKING:
    from agent_cli.frontends.tui.app import AgentApp


class ScreenView:
    """See `agent_cli.controller.view.View`."""

    unsupported: frozenset[str] = frozenset()
    controller: Controller
    """Whose view it is; it is given one before anything happens."""

    def __init__(self, app: "AgentApp", session: Session, sessions: Sessions | None) -> None:
        self.themes: Sequence[str] = sorted(app.available_themes)
        self.writer = TranscriptWriter(app.transcript)
        self.meter = Meter()
        self._app = app
        self._session = session
        self._sessions = sessions
        self._is_playing = False
        self._branch = ""
        self._ticking = app.set_interval(1.0, self.draw_status, pause=True)

    def greet(self) -> None:
        """Say where we are."""
        self._read_branch()
        session, workspace = self._session, self._session.workspace
        root, home = workspace.root, workspace.home
        self._app.transcript.add(
            BannerBlock(
                place=f"~{root.removeprefix(home)}" if root.startswith(f"{home}/") else root,
                branch=self._branch,
                facts=(session.model, tr("{mode} mode", mode=session.mode.value)),
                tips=GUIDE_TIPS if session.model == GUIDE else TIPS,
            )
        )

    def show(self, event: ev.Event) -> None:
        self.writer.write(event)
        match event:
            case ev.ToolFinished():
                self.draw_panel()
            case ev.TextDelta() | ev.ThinkingDelta():
                self.meter.add_text(event.text)
            case ev.UsageChanged():
                self.meter.set_tokens(event.step.output_tokens)
                self._app.working.update(tokens=event.total.output_tokens)
            case ev.TurnFinished() if event.steps:
                notify_terminal(self._app, "agent", ending_text(event))
            case _:
                pass

    def say(self, markdown: str) -> None:
        block = ReplyBlock(markdown)
        block.finish()
        self._app.transcript.add(block)

    def notify(self, text: str) -> None:
        self._app.notify(visible(text, one_line=True), markup=False)

    def replay(self, events: Sequence[ev.Event]) -> None:
        self.writer.replay(events)

    def reset(self, events: Sequence[ev.Event]) -> None:
        self.writer.forget()
        self._app.transcript.clear()
        self.greet()
        self.writer.replay(events)
        self.refresh()

    def refresh(self) -> None:
        if self.controller.is_playing != self._is_playing:
            self._is_playing = not self._is_playing
            for each in (self._app.working, self.meter):
                each.start() if self._is_playing else each.stop()
            self._ticking.resume() if self._is_playing else self._ticking.pause()
            if not self._is_playing:
                self._read_branch()
        self._app.working.set_queued(queued=bool(self.controller.queue))
        self._app.composer.queue.messages = tuple(each.text for each in self.controller.queue)
        self.draw_status()
        self.draw_panel()

    def draw_status(self) -> None:
        session, window = self._session, self.controller.window
        self._app.composer.status.status = Status(
            mode=session.mode.value,
            model=session.model,
            sandbox=self.controller.sandbox,
            branch=self._branch,
            context=session.context_tokens / window if window else None,
            cost=session.usage.cost if session.usage.input_tokens else 0.0,
            is_cost_partial=bool(session.usage.cost is not None and session.usage.unpriced),
            elapsed=self.meter.elapsed,
            tokens_per_second=self.meter.tokens_per_second,
        )

    def draw_panel(self) -> None:
        panel = self._app.body.panel
        if not panel.display:
            return
        jobs = tuple((job.command.text, job.standing) for job in self._session.state(Jobs))
        diffs = self.controller.diffs
        files = {each.name: ChangedFile(each.added, each.removed) for each in diffs}
        panel.tell(Overview(self._session.state(TodoList).items, files, jobs))

    def _read_branch(self) -> None:
        root = Path(self._session.workspace.root)
        self._branch = (git_branch(root) or "").removeprefix("branch ")

    async def ask(self, request: Request) -> RequestAnswer:
        self.writer.set_asking(request.call_id, asking=True)
        self._app.working.set_waiting(waiting=True)
        notify_terminal(self._app, tr("agent needs you"), request_title(request))
        try:
            answer: RequestAnswer = await self._app.show_screen(self._modal_for(request))
            return answer
        finally:
            self._app.working.set_waiting(waiting=False)
            self.writer.set_asking(request.call_id, asking=False)

    def _modal_for(self, request: Request) -> Screen[Any]:
        match request:
            case ApprovalRequest():
                position = self.controller.questions.position
                return ApprovalModal(request, runs=where(request), position=position)
            case PlanRequest():
                return PlanModal(request.plan)
            case _:
                return QuestionModal(request)

    async def choose(self, menu: Menu) -> str:
        return await self._app.show_screen(MenuModal(menu))

    async def choose_session(self, words: str) -> Resume | None:
        if self._sessions is None:
            raise UserError(tr("Sessions aren't saved here."))
        # Loads SQLite, which the first paint does without.
        from agent_cli.frontends.tui.modals.sessions_modal import SessionsModal  # noqa: PLC0415

        here, current = self._session.workspace.root, self._session.id
        modal = SessionsModal(self._sessions, here, current=current, words=words)
        return await self._app.show_screen(modal)

    def prefill(self, text: str) -> None:
        self._app.composer.prompt.prepend(text)

    def copy(self, text: str) -> None:
        self._app.copy_to_clipboard(text)
        self.notify(tr("Copied."))

    def show_help(self, commands: Sequence[Command]) -> None:
        named = [(f"/{each.name} {tr(each.argument)}".rstrip(), tr(each.help)) for each in commands]
        self._app.push_screen(HelpModal(named))

    def use_theme(self, name: str) -> None:
        self._app.theme = name

    def leave(self) -> None:
        self._app.exit(0)
