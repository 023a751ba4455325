"""Writes what happens in the form that was asked for."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from agent_cli.commands import all_commands
from agent_cli.config.user_directories import Directories
from agent_cli.controller.controller import Controller
from agent_cli.controller.endings import compaction_text, exit_code, retrying
from agent_cli.controller.requests import refusal
from agent_cli.controller.slash_command import find
from agent_cli.controller.view import Menu, View
from agent_cli.controller.wording import sentences
from agent_cli.core import events as ev
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.core.extension_protocol import PromptCommand
from agent_cli.core.inbox import Request, RequestAnswer
from agent_cli.core.prompt_template import PromptTemplate
from agent_cli.core.session import Session
from agent_cli.launch_options import Resume
from agent_cli.lib.language import mark, tr, trn
from agent_cli.safety.sanitise import clean
from agent_cli.safety.terminal import write_data, write_err

if TYPE_CHECKING:
    from agent_cli.frontends.headless.structured import Structured

LEVELS = {
    "info": mark("info: {text}"),
    "warning": mark("warning: {text}"),
    "error": mark("error: {text}"),
}
OutputFormat = Literal["text", "json", "stream-json"]


class HeadlessView(View):
    """Writes what happens in the form that was asked for; nobody looks at it."""

    unsupported: frozenset[str] = frozenset()
    themes: Sequence[str] = ()

    def __init__(self, session: Session, output: OutputFormat) -> None:
        log_file = Directories.of(os.environ).log_file
        self.controller = Controller(session, self, log_file=log_file, makes_titles=False)
        self._session = session
        self._output = output
        self._is_playing = False
        self._no_more_lines = asyncio.Event()
        self.has_read_all = False
        """Whether standard input was read to its end, where prompts come from there."""
        self._broken: OSError | None = None
        """Why nobody reads what is written any more."""

    async def play(self, prompt: str) -> ev.TurnFinished | None:
        """Play a turn; None if it broke off, which was told then."""
        sent = self._send(prompt)
        before = self.controller.finished
        loop = asyncio.get_running_loop()
        ending = _ending_signals()
        for number in ending:
            loop.add_signal_handler(number, self.controller.interrupt)
        try:
            self.controller.play(self._session.run(sent))
            await self.controller.idle()
        finally:
            for number in ending:
                loop.remove_signal_handler(number)
        if self._broken is not None:
            raise self._broken
        finished = self.controller.finished
        return finished if finished is not before else None

    def _send(self, text: str) -> str | PromptTemplate:
        """The prompt that a file wrote for `/name …`; anything else as it is."""
        name, argument = [*text.split(None, 1), "", ""][:2]
        if not name.startswith("/"):
            return text
        if command := find(name[1:], all_commands()):
            raise UserError(tr("/{name} needs an interactive session.", name=command.name))
        for each in self._session.extensions.commands:
            if isinstance(each, PromptCommand) and each.name == name[1:].lower():
                return each.prompt(argument.strip())
        return text

    def conclude(self, finished: ev.TurnFinished | None, structured: "Structured | None") -> int:
        """Write the answer; returns the exit code."""
        if finished is None:
            return ExitCode.FAILED
        failed_schema = structured.problem if structured and finished.reason == "done" else None
        text = finished.text
        if structured and structured.value is not None:
            text = json.dumps(structured.value, ensure_ascii=False)
        if self._output == "text" and text:
            _out(text)
        if self._output == "json":
            _out(json.dumps(self._summary(finished, text, failed_schema), ensure_ascii=False))
        receipt = finished.receipt
        if self._output == "text" and (receipt.files or receipt.running):
            err(receipt.line(finished.usage))
        if finished.error:
            note("error", finished.error)
            if finished.hint:
                err(finished.hint)
        if failed_schema:
            note("error", tr("The answer doesn't match the schema: {why}.", why=failed_schema))
            return ExitCode.FAILED
        code = exit_code(finished)
        if code == ExitCode.PERMISSION:
            err(_describe_blocked(finished.denials))
            err(tr("Allow them with --allow RULE, or choose a --permission-mode."))
        return code

    def _summary(self, finished: ev.TurnFinished, text: str, problem: str | None) -> dict[str, Any]:
        return {
            "type": "result",
            "session_id": self._session.id,
            "model": self._session.model,
            "reason": finished.reason,
            "text": text,
            "error": finished.error or problem or None,
            "hint": finished.hint or None,
            "steps": finished.steps,
            "denials": finished.denials,
            "seconds": round(finished.seconds, 3),
            "usage": finished.usage.model_dump(),
            "receipt": finished.receipt.model_dump(),
        }

    # ── what a controller needs of a view ────────────────────────────────────────────────────────

    def show(self, event: ev.Event) -> None:
        self._is_playing = self._is_playing or isinstance(event, ev.TurnStarted)
        if self._output == "stream-json" and self._is_playing:
            self._write(event)
        match event:
            case ev.Notice():
                note(event.level, sentences(event.text, event.hint))
            case ev.HistoryCompacted():
                note("info", compaction_text(event))
            case ev.ModelRetrying():
                err(retrying(event))
            case ev.ApprovalAsked() | ev.QuestionAsked() | ev.PlanAsked():
                if self._output != "stream-json":
                    err(tr("Waiting for an answer to {id}.", id=event.request.id))
            case ev.TurnFinished():
                self._is_playing = False
            case _:
                pass

    def _write(self, event: ev.Event) -> None:
        try:
            _out(event.model_dump_json())
        except OSError as error:
            self._broken = error
            self.controller.interrupt()

    def say(self, markdown: str) -> None:
        err(markdown)

    async def ask(self, request: Request) -> RequestAnswer:
        """A line of standard input answers by the id; nobody does when there are no more lines."""
        await self._no_more_lines.wait()
        return refusal(request)

    def end_of_input(self) -> None:
        """Nobody can answer from now on."""
        self._no_more_lines.set()
        self._session.stop_asking()
        self.controller.questions.decline_all()

    async def choose(self, menu: Menu) -> str:
        return menu.leave

    async def choose_session(self, words: str) -> Resume | None:
        return None


def _ending_signals() -> list[signal.Signals]:
    """What interrupts a turn; what was started with nohup stays deaf to its terminal's end."""
    ending = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        ending.append(signal.SIGHUP)
    return ending


def _describe_blocked(count: int) -> str:
    return trn(
        "{n:,} tool call was blocked: it needs approval, and nobody is here to give it.",
        "{n:,} tool calls were blocked: they need approval, and nobody is here to give it.",
        count,
    )


def _out(text: str) -> None:
    write_data(f"{text}\n")
    sys.stdout.flush()


def note(level: str, text: str) -> None:
    """Say something on standard error, with its level."""
    err(tr(LEVELS[level], text=text))


def err(text: str) -> None:
    """Say something on standard error."""
    write_err(f"{clean(text)}\n")
    sys.stderr.flush()
