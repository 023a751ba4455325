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
from agent_cli.core.errors import UserError
from agent_cli.core.events import (
    Event,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    TurnFinished,
    UsageChanged,
)
from agent_cli.core.inbox import (
    ApprovalRequest,
    PlanRequest,
    QuestionRequest,
    Request,
    RequestAnswer,
)
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
        self.writer = TranscriptWriter(app.widgets.transcript)
        self.meter = Meter()
        self._app = app
        self._session = session
        self._sessions = sessions
        self._widgets = app.widgets
        self._is_playing = False
        self._branch = ""
        self._ticking = app.set_interval(1.0, self.draw_status, pause=True)

    # ── what happens ─────────────────────────────────────────────────────────────────────────────

    def greet(self) -> None:
        """Say where we are."""
        self._read_branch()
        session, workspace = self._session, self._session.workspace
        root, home = workspace.root, workspace.home
        self._widgets.transcript.add(
            BannerBlock(
                place=f"~{root.removeprefix(home)}" if root.startswith(f"{home}/") else root,
                branch=self._branch,
                facts=(session.model, tr("{mode} mode", mode=session.mode.value)),
                tips=GUIDE_TIPS if session.model == GUIDE else TIPS,
            )
        )

    def show(self, event: Event) -> None:
        self.writer.write(event)
        match event:
            case ToolFinished():
                self.draw_panel()
            case TextDelta() | ThinkingDelta():
                self.meter.add_text(event.text)
            case UsageChanged():
                self.meter.set_tokens(event.step.output_tokens)
                self._widgets.working.update(tokens=event.total.output_tokens)
            case TurnFinished() if event.steps:
                notify_terminal(self._app, "agent", ending_text(event))
            case _:
                pass

    def say(self, markdown: str) -> None:
        block = ReplyBlock(markdown)
        block.finish()
        self._widgets.transcript.add(block)

    def notify(self, text: str) -> None:
        self._app.notify(visible(text, one_line=True), markup=False)

    def replay(self, events: Sequence[Event]) -> None:
        self.writer.replay(events)

    def reset(self, events: Sequence[Event]) -> None:
        self.writer.forget()
        self._widgets.transcript.clear()
        self.greet()
        self.writer.replay(events)
        self.refresh()

    # ── the status ───────────────────────────────────────────────────────────────────────────────

    def refresh(self) -> None:
        if self.controller.is_playing != self._is_playing:
            self._is_playing = not self._is_playing
            self._start_clock() if self._is_playing else self._stop_clock()
        self._widgets.composer.queue.messages = tuple(each.text for each in self.controller.queue)
        self.draw_status()
        self.draw_panel()

    def draw_status(self) -> None:
        """Draw the facts of the moment."""
        session, window = self._session, self.controller.window
        self._widgets.composer.status.status = Status(
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
        """Draw the side panel, if it is there."""
        panel = self._widgets.body.panel
        if not panel.display:
            return
        jobs = tuple((job.command.text, job.standing) for job in self._session.state(Jobs))
        inside = f"{self._session.workspace.root.rstrip('/')}/"
        files: dict[str, ChangedFile] = {}
        for diff in self.controller.diffs:
            path = diff.path.removeprefix(inside)
            added, removed = files.get(path, ChangedFile())
            files[path] = ChangedFile(added + diff.added, removed + diff.removed)
        panel.tell(Overview(self._session.state(TodoList).items, files, jobs))

    def _start_clock(self) -> None:
        self._widgets.working.start()
        self.meter.start()
        self._ticking.resume()

    def _stop_clock(self) -> None:
        self._widgets.working.stop()
        self.meter.stop()
        self._ticking.pause()
        self._read_branch()

    def _read_branch(self) -> None:
        root = Path(self._session.workspace.root)
        self._branch = (git_branch(root) or "").removeprefix("branch ")

    # ── what the user is asked ───────────────────────────────────────────────────────────────────

    async def ask(self, request: Request) -> RequestAnswer:
        self.writer.asking(request.call_id)
        self._widgets.working.wait()
        notify_terminal(self._app, tr("agent needs you"), request_title(request))
        try:
            answer: RequestAnswer = await self._app.show_screen(self._modal_for(request))
            return answer
        finally:
            self._widgets.working.go_on()
            self.writer.resume(request.call_id)

    def _modal_for(self, request: Request) -> Screen[Any]:
        match request:
            case ApprovalRequest():
                total = self.controller.questions.count
                return ApprovalModal(request, runs=where(request), total=total)
            case QuestionRequest():
                return QuestionModal(request)
            case PlanRequest():
                return PlanModal(request.plan)

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

    # ── what else commands do ────────────────────────────────────────────────────────────────────

    def prefill(self, text: str) -> None:
        self._widgets.composer.prompt.prepend(text)

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
