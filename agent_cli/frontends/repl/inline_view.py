"""The inline view of a conversation: prints what is finished, asks on the stage."""

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.text import Text

from agent_cli.commands import all_commands
from agent_cli.controller import answers as words
from agent_cli.controller import requests
from agent_cli.controller.answers import AnswerOption as Option
from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.controller.view import Menu, MenuRow, View
from agent_cli.controller.wording import number_of
from agent_cli.core import inbox
from agent_cli.core.errors import UserError
from agent_cli.core.events import Event, Notice, TurnStarted
from agent_cli.core.money.pricing import short_price
from agent_cli.core.session import Session
from agent_cli.frontends.repl import drawing
from agent_cli.frontends.repl.inline_renderer import InlineRenderer
from agent_cli.frontends.repl.stage import Stage
from agent_cli.frontends.shared.approval_text import where
from agent_cli.frontends.shared.keys import help_rows
from agent_cli.launch_options import Resume
from agent_cli.lib.dates import ago
from agent_cli.lib.language import tr
from agent_cli.resuming import prepare
from agent_cli.safety.sanitise import clean, visible
from agent_cli.storage.prompt_history import PromptHistory
from agent_cli.storage.session_store import Sessions

_MAX_SESSIONS = 9


class InlineView(View):
    """A session at a stage, until the user leaves."""

    unsupported: frozenset[str] = frozenset()
    themes: Sequence[str] = ()

    def __init__(
        self,
        session: Session,
        stage: Stage,
        sessions: Sessions,
        *,
        history: PromptHistory,
        log_file: Path,
        is_still: bool = False,
    ) -> None:
        self.renderer = InlineRenderer(stage, is_still=is_still)
        self.left = asyncio.Event()
        """Set when the user leaves."""
        here = Path(session.workspace.root)
        self.controller = Controller(
            session,
            self,
            commands=all_commands(),
            history=history,
            log_file=log_file,
            prepare=partial(prepare, cwd=here, sessions=sessions),
        )
        self._stage = stage
        self._sessions = sessions
        self._mode = session.mode
        self._one_question = asyncio.Lock()

    def greet(self) -> None:
        """Say where we are."""
        session = self.controller.session
        root, home = session.workspace.root, session.workspace.home
        place = f"~{root.removeprefix(home)}" if root.startswith(f"{home}/") else root
        self.renderer.greet((place, session.model, self._mode_name, "/help"))

    def status(self) -> str:
        """Mode, model, how full its window is, and what the session cost."""
        session, window = self.controller.session, self.controller.window
        parts = [self._mode_name, session.model]
        if window:
            parts.append(tr("{share:.0%} of the window", share=session.context_tokens / window))
        if session.usage.cost or session.usage.unpriced:
            parts.append(short_price(session.usage))
        return clean(f" {self._stage.signs.dot} ".join(parts))

    @property
    def _mode_name(self) -> str:
        return tr("{mode} mode", mode=self.controller.session.mode.value)

    # ── what a controller needs of a view ────────────────────────────────────────────────────────

    def show(self, event: Event) -> None:
        if isinstance(event, TurnStarted):
            self.renderer.begin(is_own=self.controller.runs_own_command)
        self.renderer.write(event)

    def say(self, markdown: str) -> None:
        self.renderer.say(markdown)

    def notify(self, text: str) -> None:
        self.renderer.note(text)

    def refresh(self) -> None:
        if not self.controller.is_busy:
            self.renderer.end()
        self.renderer.has_queue = bool(self.controller.queue)
        mode = self.controller.session.mode
        if self._stage.paper.is_flat and mode is not self._mode:  # there is no status line
            self.renderer.note(tr("The mode is now {mode}.", mode=mode.value))
        self._mode = mode
        self._stage.changed()

    def replay(self, events: Sequence[Event]) -> None:
        self.renderer.replay(events)

    def reset(self, events: Sequence[Event]) -> None:
        """What was printed stays in the scrollback."""
        if events:
            self.renderer.note(tr("Rewound to before that prompt."))
        else:
            self.renderer.note(tr("New conversation."))

    def prefill(self, text: str) -> None:
        self._stage.prefill(text)

    def copy(self, text: str) -> None:
        if self._stage.copy(text):
            self.notify(tr("Copied."))
        else:
            self.show(Notice(level="warning", text=tr("There is no clipboard here.")))

    def show_help(self, commands: Sequence[Command]) -> None:
        keys = "\n".join(f"- **{key}**: {text}" for key, text in help_rows("inline"))
        named = "\n".join(
            f"- **{f'/{c.name} {tr(c.argument)}'.rstrip()}**: {tr(c.help)}" for c in commands
        )
        self.say("\n\n".join((tr("Keys"), keys, tr("Commands"), named)))

    def leave(self) -> None:
        self.left.set()

    async def ask(self, request: inbox.Request) -> inbox.RequestAnswer:
        async with self._one_question:
            self.renderer.is_waiting = True
            try:
                match request:
                    case inbox.ApprovalRequest():
                        return await self._approval(request)
                    case inbox.QuestionRequest():
                        return await self._questions(request)
                    case inbox.PlanRequest():
                        return await self._plan(request)
            finally:
                self.renderer.is_waiting = False

    async def choose(self, menu: Menu) -> str:
        async with self._one_question:
            if menu.rows:
                self._stage.paper.put(Text(""), *map(_row, menu.rows))
            with self._stage.paper.hold():
                return await self._stage.choose(menu.heading, menu.options, leave=menu.leave)

    async def choose_session(self, words: str) -> Resume | None:
        index, session = self._sessions.index, self.controller.session
        here = session.workspace.root
        listed = await asyncio.to_thread(
            lambda: index.search(words, here) if words else index.listing(here)
        )
        found = [info for info in listed if info.id != session.id][:_MAX_SESSIONS]
        if not found:
            raise UserError(tr("There is no other session here."))
        now = time.time()
        options = [Option("", tr("Stay here"), "n")]
        for number, info in enumerate(found, 1):
            name = visible(info.name, one_line=True)[:70]
            options.append(Option(info.id, name, str(number), ago(info.updated, now)))
        chosen = await self.choose(Menu(tr("Resume which session?"), options, leave=""))
        return Resume(chosen) if chosen else None

    # ── questions ────────────────────────────────────────────────────────────────────────────────

    async def _approval(self, request: inbox.ApprovalRequest) -> inbox.Approval:
        stage = self._stage
        heading = requests.approval_heading(request)
        stage.paper.put(Text(""), drawing.approval(request, where(request), stage.signs))
        with stage.paper.hold():
            while True:
                match await stage.choose(heading, requests.approval_answers(request)):
                    case "because":
                        reason = await stage.line(tr(words.WHY_NOT))
                        if reason is not None:
                            return inbox.Approval(reason=reason)
                    case answer:
                        return requests.as_approval(answer)

    async def _plan(self, request: inbox.PlanRequest) -> inbox.PlanAnswer:
        stage, plan = self._stage, request.plan
        while True:
            stage.paper.put(Text(""), *(Text(line) for line in visible(plan).split("\n")))
            with stage.paper.hold():
                answer = await self._plan_answer(plan)
                if answer is not None:
                    return answer
                plan = await stage.edit(plan) or plan

    async def _plan_answer(self, plan: str) -> inbox.PlanAnswer | None:
        """None: the user wants to edit the plan."""
        while True:
            match await self._stage.choose(tr(words.PLAN_HEADING), requests.plan_answers()):
                case "because":
                    reason = await self._stage.line(tr(words.WHAT_CHANGES))
                    if reason is not None:
                        return inbox.PlanAnswer(plan=plan, reason=reason)
                case "edit":
                    return None
                case answer:
                    return requests.as_plan_answer(answer, plan)

    async def _questions(self, request: inbox.QuestionRequest) -> inbox.Answers:
        total = len(request.questions)
        given: list[str] = []
        for number, question in enumerate(request.questions, 1):
            heading = requests.question_heading(request)
            if total > 1:
                heading += f"  {number_of(number, total)}"
            given.append(await self._question(heading, question))
        return inbox.Answers(answers=tuple(given))

    async def _question(self, heading: str, question: inbox.Question) -> str:
        stage = self._stage
        stage.paper.put(Text(""), *map(Text, visible(question.text).split("\n")))
        with stage.paper.hold():
            return await requests.ask_question(
                question,
                lambda options: stage.choose(heading, options, leave="skip"),
                lambda: stage.line(tr(words.YOUR_ANSWER)),
            )


def _row(row: MenuRow) -> Text:
    style = drawing.DIM if row.emphasis == "muted" else ""
    noted = drawing.WAITING if row.emphasis == "warning" else drawing.DIM
    return Text.assemble((f"  {row.text}", style), (f"  {row.note}" if row.note else "", noted))
