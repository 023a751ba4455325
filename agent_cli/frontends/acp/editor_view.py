"""A session as an editor shows it: updates for what happens, dialogues for what is asked.

An editor's dialogue for permissions offers answers to choose from, no words of one's own: a refusal
carries no reason, and a question is answered by what it offers or not at all, unless the editor can
show a form.
"""

import itertools
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from acp import RequestError, helpers, schema
from acp.interfaces import Client
from pydantic import ValidationError

from agent_cli.commands import all_commands
from agent_cli.config.user_directories import Directories
from agent_cli.controller import requests
from agent_cli.controller.answers import PLAN_HEADING
from agent_cli.controller.answers import AnswerOption as Option
from agent_cli.controller.controller import Controller
from agent_cli.controller.modes import MODES
from agent_cli.controller.slash_command import Command
from agent_cli.controller.view import Menu, View
from agent_cli.controller.wording import sentences
from agent_cli.core import inbox
from agent_cli.core.events import Event, Notice, PromptAdded
from agent_cli.core.session import Session
from agent_cli.frontends.acp import blocks
from agent_cli.frontends.acp.forms import form, read_answers
from agent_cli.frontends.acp.outbox import Outbox
from agent_cli.frontends.acp.updates import Update, Updates, note
from agent_cli.frontends.shared import approval_text
from agent_cli.launch_options import Resume
from agent_cli.lib.language import mark, tr

log = logging.getLogger(__name__)

_KINDS: dict[str, schema.PermissionOptionKind] = {
    "session": "allow_always",
    "project": "allow_always",
    "no": "reject_once",
    "keep": "reject_once",
    "skip": "reject_once",
}
_WORDS_NEEDED = ("because", "edit", "own")
"""Answers that would need a line of text."""
_ANSWER_LATER = mark(
    "To answer in your own words, choose “No answer” and write them as your next message."
)


class Cancelled(Exception):
    """The user cancelled instead of answering."""


class EditorView(View):
    """One session inside an editor."""

    unsupported = frozenset(  # the editor does these itself
        ("clear", "copy", "fork", "quit", "rewind", "sessions", "theme")
    )
    themes: Sequence[str] = ()

    def __init__(
        self, session: Session, client: Client, notes: Sequence[str], *, has_forms: bool
    ) -> None:
        self.controller = Controller(
            session,
            self,
            commands=all_commands(),
            log_file=Directories.of(os.environ).log_file,
            modes=[*MODES, *({session.mode} - set(MODES))],  # yolo only if it was started with it
        )
        self.was_cancelled = False
        """Whether the user cancelled a dialogue of the prompt under way."""
        self.known_mode: str = session.mode
        """The mode that the editor knows of."""
        self._known_title = session.title
        self._session = session
        self._client = client
        self._has_forms = has_forms
        self._updates = Updates(session)
        self._outbox = Outbox(
            self._send,
            lambda work: self.controller.background.start(work, tr("An update could not be sent")),
        )
        self._notes = list(notes)
        """What is said before the next answer."""
        self._is_prompting = False
        self._menus = itertools.count(1)

    @contextmanager
    def prompting(self) -> Iterator[None]:
        """The editor waits for an answer: what the program says is shown at once."""
        self.was_cancelled, self._is_prompting = False, True
        try:
            while self._notes:
                self._outbox.put(note(self._notes.pop(0)))
            yield
        finally:
            self._is_prompting = False

    async def flush(self) -> None:
        """Wait until the editor was sent everything."""
        await self._outbox.flush()

    def advertise(self) -> int:
        """Tell which commands there are; returns how many."""
        commands = self.controller.commands
        self._outbox.put(helpers.update_available_commands(map(blocks.advertise, commands)))
        return len(commands)

    async def _send(self, update: Update) -> None:
        await self._client.session_update(session_id=self._session.id, update=update)

    # ── what a controller needs of a view ────────────────────────────────────────────────────────

    def show(self, event: Event) -> None:
        match event:
            case PromptAdded():
                pass  # the editor shows what its user wrote
            case Notice() if not self._is_prompting:
                self._notes.append(sentences(event.text, event.hint))
            case _:
                self.replay((event,))

    def say(self, markdown: str) -> None:
        self._outbox.put(helpers.update_agent_message_text(f"{blocks.plain(markdown)}\n\n"))

    def notify(self, text: str) -> None:
        self._outbox.put(note(text))

    def refresh(self) -> None:
        session = self._session
        self._updates.window = self.controller.window
        if session.mode != self.known_mode:
            self.known_mode = session.mode
            self._outbox.put(helpers.update_current_mode(session.mode.value))
        if session.title != self._known_title:
            self._known_title = session.title
            self._outbox.put(
                schema.SessionInfoUpdate(session_update="session_info_update", title=session.title)
            )

    def replay(self, events: Sequence[Event]) -> None:
        for event in events:
            for update in self._updates.of(event):
                self._outbox.put(update)

    def show_help(self, commands: Sequence[Command]) -> None:
        rows = (f"- **{f'/{c.name} {tr(c.argument)}'.rstrip()}**: {tr(c.help)}" for c in commands)
        self.say("\n".join(rows))

    async def choose_session(self, words: str) -> Resume | None:
        return None

    async def ask(self, request: inbox.Request) -> inbox.RequestAnswer:
        try:
            match request:
                case inbox.ApprovalRequest():
                    return await self._approval(request)
                case inbox.QuestionRequest():
                    return await self._questions(request)
                case inbox.PlanRequest():
                    return await self._plan(request)
        except Cancelled:
            self.controller.interrupt()
        except (RequestError, ValidationError) as error:
            log.warning("the editor could not ask: %s", error)
        return requests.refusal(request)

    async def choose(self, menu: Menu) -> str:
        """Ask as if a call asked, for that is how an editor can ask."""
        lines = [f"- {row.text}: {row.note}" if row.note else f"- {row.text}" for row in menu.rows]
        content = [blocks.text_content(blocks.plain("\n".join(lines)))] if lines else []
        options = sorted(menu.options, key=lambda option: option.id == menu.leave)
        call_id = f"question-{next(self._menus)}"
        try:
            return await self._dialogue(call_id, menu.heading, options, content) or menu.leave
        except (Cancelled, RequestError, ValidationError):
            self.was_cancelled = True
            return menu.leave
        finally:
            self._outbox.put(helpers.update_tool_call(call_id, status="completed"))

    # ── dialogues ────────────────────────────────────────────────────────────────────────────────

    async def _dialogue(
        self,
        call_id: str,
        heading: str,
        options: Iterable[Option],
        content: Sequence[blocks.Shown] = (),
        kind: schema.ToolKind = "other",
    ) -> str:
        """The id of the chosen option; empty: none of them. Raises Cancelled."""
        await self._outbox.flush()  # what it is about comes first
        offered = [option for option in options if option.id not in _WORDS_NEEDED]
        call = schema.ToolCallUpdate(
            tool_call_id=call_id, title=heading, kind=kind, status="pending", content=list(content)
        )
        response = await self._client.request_permission(
            session_id=self._session.id, tool_call=call, options=[_option(each) for each in offered]
        )
        if not isinstance(response.outcome, schema.AllowedOutcome):
            raise Cancelled
        chosen = response.outcome.option_id
        return chosen if any(chosen == option.id for option in offered) else ""

    async def _approval(self, request: inbox.ApprovalRequest) -> inbox.Approval:
        title = approval_text.one_line(requests.request_title(request))
        options = sorted(requests.approval_answers(request), key=lambda option: option.id == "no")
        content, kind = list(self._facts(request)), self._updates.kind(request.tool)
        chosen = await self._dialogue(request.call_id, title, options, content, kind)
        return requests.as_approval(chosen)

    def _facts(self, request: inbox.ApprovalRequest) -> Iterator[blocks.Shown]:
        """Everything the user needs to know to decide."""
        if request.preview is not None:
            yield from blocks.display_content(request.preview, self._session.workspace)
        lines = [
            tr("{label}: {text}", label=tr(approval_text.BEWARE), text=text)
            for text in approval_text.warnings(request)
        ]
        for step in approval_text.told_steps(request):
            told = tr("{label}: {text}", label=step.label, text=step.text)
            lines.append(told if step.text else step.label)
        label = ""
        for fact in approval_text.facts(request, approval_text.where(request)):
            label = fact.label or label
            lines.append(tr("{label}: {text}", label=label, text=fact.text))
        if said := approval_text.quote_model(request):
            lines.append(tr("{label}: {text}", label=tr(approval_text.MODEL_SAYS), text=said))
        if lines:
            yield blocks.text_content(blocks.fence("\n".join(lines)))  # nothing in it is Markdown

    async def _plan(self, request: inbox.PlanRequest) -> inbox.PlanAnswer:
        content = [blocks.text_content(blocks.plain(request.plan))]
        options = sorted(requests.plan_answers(), key=lambda option: option.id == "keep")
        heading = tr(PLAN_HEADING)
        return requests.as_plan_answer(
            await self._dialogue(request.call_id, heading, options, content, "switch_mode")
        )

    async def _questions(self, request: inbox.QuestionRequest) -> inbox.Answers:
        if self._has_forms:
            with suppress(RequestError, ValidationError):
                return await self._form(request)
        call_id = request.call_id or request.id
        try:
            given = [await self._question(call_id, question) for question in request.questions]
        finally:
            if not request.call_id:
                self._outbox.put(helpers.update_tool_call(call_id, status="completed"))
        return inbox.Answers(answers=tuple(given))

    async def _form(self, request: inbox.QuestionRequest) -> inbox.Answers:
        await self._outbox.flush()
        mode = schema.ElicitationFormSessionMode(
            session_id=self._session.id,
            tool_call_id=request.call_id or None,
            requested_schema=form(request.questions),
        )
        response = await self._client.create_elicitation(requests.question_heading(request), mode)
        if not isinstance(response, schema.AcceptElicitationResponse):
            return inbox.Answers(answers=("",) * len(request.questions))
        return inbox.Answers(answers=read_answers(request.questions, response.content or {}))

    async def _question(self, call_id: str, question: inbox.Question) -> str:
        heading, _, more = question.text.partition("\n")
        content = [blocks.text_content(blocks.plain(question.text))] if more else []
        content += [blocks.text_content(tr(_ANSWER_LATER))] if question.is_open else []
        heading = approval_text.one_line(heading)
        return await requests.ask_question(
            question, lambda options: self._dialogue(call_id, heading, options, content)
        )


def _option(answer: Option) -> schema.PermissionOption:
    name = answer.label
    if answer.note:
        name = tr("{label}: {text}", label=name, text=answer.note)
    return schema.PermissionOption(
        option_id=answer.id, name=name, kind=_KINDS.get(answer.id, "allow_once")
    )
