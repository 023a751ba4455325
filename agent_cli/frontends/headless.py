"""The agent without a screen: `agent -p`, one answer or a stream of events on standard output.

Standard output carries only the answer or the events; everything else goes to standard error.
"""

import asyncio
import contextlib
import json
import select
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from agent_cli.commands._foreign import as_prompt
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.core.events import (
    ApprovalAsked,
    Event,
    HistoryCompacted,
    ModelRetrying,
    Notice,
    PlanAsked,
    QuestionAsked,
    TurnFinished,
)
from agent_cli.core.inbox import Answer, Answers, Approval, PlanAnswer
from agent_cli.core.session import Session
from agent_cli.frontends.shared.endings import EXIT_CODES
from agent_cli.frontends.shared.past import how_to_resume
from agent_cli.frontends.shared.wording import sentences
from agent_cli.lib.language import mark, tr, trn
from agent_cli.safety.sanitise import clean

if TYPE_CHECKING:
    from agent_cli.frontends.structured import Structured

WAIT_FOR_INPUT = 3.0
"""Seconds until piped input must begin when there is a prompt already."""

LEVELS = {
    "info": mark("info: {text}"),
    "warning": mark("warning: {text}"),
    "error": mark("error: {text}"),
}
OutputFormat = Literal["text", "json", "stream-json"]


@dataclass(frozen=True)
class Options:
    """How to answer."""

    output: OutputFormat = "text"
    schema: dict[str, Any] | None = None
    """A JSON Schema that the final answer must satisfy."""


class PromptLine(BaseModel):
    """A line of stream-json input: the next turn."""

    model_config = ConfigDict(extra="forbid")
    type: Literal["prompt"]
    text: str


class SteerLine(BaseModel):
    """A message for the turn under way."""

    model_config = ConfigDict(extra="forbid")
    type: Literal["steer"]
    text: str


class ReplyLine(BaseModel):
    """The answer to an approval, a question or a plan, by its id."""

    model_config = ConfigDict(extra="forbid")
    type: Literal["reply"]
    id: str
    answer: (
        Literal["once", "session", "project", "no", "default", "accept-edits", "keep"] | None
    ) = None
    reason: str = ""
    plan: str = ""
    """The plan as the person changed it."""
    answers: tuple[str, ...] | None = None


class InterruptLine(BaseModel):
    """End the turn under way."""

    model_config = ConfigDict(extra="forbid")
    type: Literal["interrupt"]


Line = PromptLine | SteerLine | ReplyLine | InterruptLine
_LINE: TypeAdapter[Line] = TypeAdapter(Line)


async def run_once(session: Session, prompt: str, options: Options) -> int:
    """One turn; returns the exit code."""
    structured = _structured(options)
    player = _Player(session, options.output)
    finished = await player.play(structured.prompt(prompt) if structured else prompt)
    while structured and finished.reason == "done" and (again := structured.check(finished.text)):
        finished = await player.play(again)
    return player.conclude(finished, structured)


async def run_stream(session: Session, options: Options) -> int:
    """Turns as they come on standard input, one JSON object a line; ends with the input."""
    player = _Player(session, options.output)
    prompts: asyncio.Queue[str | None] = asyncio.Queue()
    reading = asyncio.create_task(_read_lines(session, prompts))
    await session.warm()
    code = int(ExitCode.DONE)
    try:
        while (prompt := await prompts.get()) is not None:
            finished = await player.play(prompt)
            code = player.conclude(finished, None)
        await reading
    finally:
        reading.cancel()
    return code


class _Player:
    """Plays turns and writes what happens in the form that was asked for."""

    def __init__(self, session: Session, output: OutputFormat) -> None:
        self._session = session
        self._output = output

    async def play(self, prompt: str) -> TurnFinished:
        loop = asyncio.get_running_loop()
        ending = _ending_signals()
        for number in ending:
            loop.add_signal_handler(number, self._session.interrupt)
        try:
            sent = as_prompt(prompt, self._session)
            async with aclosing(self._session.run(sent)) as events:
                return await self._follow(events)
        finally:
            for number in ending:
                loop.remove_signal_handler(number)

    async def _follow(self, events: AsyncIterator[Event]) -> TurnFinished:
        async for event in events:
            if self._output == "stream-json":
                _out(event.model_dump_json())
            match event:
                case Notice():
                    tell(event)
                case HistoryCompacted():
                    heading = event.ledger.heading
                    said = tr("compacted: {what}. {reason}", what=heading, reason=event.reason)
                    _note("info", said)
                case ModelRetrying():
                    delay, why = event.delay, event.reason
                    _err(tr("retrying in {delay:.1f} s: {why}", delay=delay, why=why))
                case ApprovalAsked() | QuestionAsked() | PlanAsked():
                    if self._output != "stream-json":
                        _err(tr("waiting for an answer to {id}", id=event.request.id))
                case TurnFinished():
                    return event
        raise AssertionError("a turn ends with TurnFinished")

    def conclude(self, finished: TurnFinished, structured: "Structured | None") -> int:
        """Write the answer; returns the exit code."""
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
            _err(receipt.line(finished.usage))
        if finished.error:
            _note("error", finished.error)
            if finished.hint:
                _err(finished.hint)
        if failed_schema:
            _note("error", tr("the answer does not fit the schema: {why}", why=failed_schema))
            return ExitCode.FAILED
        if finished.reason == "done" and finished.denials:
            _err(
                trn(
                    "{n:,} call not run for want of a permission that nobody was there to give.",
                    "{n:,} calls not run for want of a permission that nobody was there to give.",
                    finished.denials,
                )
            )
            _err(tr("Allow with --allow RULE, or choose a --permission-mode."))
            return ExitCode.PERMISSION
        return EXIT_CODES[finished.reason]

    def _summary(self, finished: TurnFinished, text: str, problem: str | None) -> dict[str, Any]:
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


def _ending_signals() -> list[signal.Signals]:
    """What interrupts a turn; what was started with nohup stays deaf to its terminal's end."""
    ending = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        ending.append(signal.SIGHUP)
    return ending


async def _read_lines(session: Session, prompts: asyncio.Queue[str | None]) -> None:
    """Obey the lines of standard input until it ends."""
    reader = asyncio.StreamReader(limit=64 * 1024 * 1024)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        if line.strip():
            _obey(line, session, prompts)
    prompts.put_nowait(None)


def _obey(line: bytes, session: Session, prompts: asyncio.Queue[str | None]) -> None:
    try:
        wish = _LINE.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        what, shown = first["msg"], repr(line[:200])
        _note(
            "error",
            tr("a line of input was not understood ({what}): {line}", what=what, line=shown),
        )
        return
    match wish:
        case PromptLine():
            prompts.put_nowait(wish.text)
        case SteerLine():
            if not session.steer(wish.text):
                prompts.put_nowait(wish.text)
        case InterruptLine():
            session.interrupt()
        case ReplyLine():
            if not session.reply(wish.id, _answer(wish)):
                _note("error", tr("{id} does not wait for an answer", id=wish.id))


def _answer(wish: ReplyLine) -> Answer:
    """The answer in the form its words belong to; the inbox takes any other form as a no."""
    if wish.answers is not None:
        return Answers(answers=wish.answers)
    match wish.answer:
        case "default" | "accept-edits" | "keep":
            return PlanAnswer(answer=wish.answer, plan=wish.plan, reason=wish.reason)
        case _:
            return Approval(answer=wish.answer or "no", reason=wish.reason)


def tell_how_to_resume(session: Session) -> None:
    """One line, for a person; a program finds the id among the events."""
    if sys.stderr.isatty() and (line := how_to_resume(session)):
        _err(line)


def _structured(options: Options) -> "Structured | None":
    if options.schema is None:
        return None
    from agent_cli.frontends.structured import Structured  # noqa: PLC0415 (rarely needed, slow)

    return Structured(options.schema)


def read_prompt(given: str | None) -> str:
    """The prompt: `-p TEXT`, with piped input added to it, or `-p -` for the input alone."""
    if given is None or given == "-":
        prompt = sys.stdin.read()
    else:
        piped = _piped()
        prompt = f"{given}\n\n{piped}" if piped.strip() else given
    if not prompt.strip():
        raise UserError(
            tr("There is no prompt."), hint=tr('Give one: agent -p "explain this project"')
        )
    return prompt


def _piped() -> str:
    """What is piped in; an inherited pipe in which nothing comes is not waited for."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    with contextlib.suppress(OSError, ValueError):  # what cannot be waited for can be read at once
        if not select.select([sys.stdin], [], [], WAIT_FOR_INPUT)[0]:
            said = tr("nothing comes from standard input; going on without it.")
            _note("warning", said)
            return ""
    return sys.stdin.read()


def tell(event: Event) -> None:
    """What happens outside of a turn: notices go to standard error."""
    if isinstance(event, Notice):
        _note(event.level, sentences(event.text, event.hint))


def _out(text: str) -> None:
    if sys.stdout.isatty():
        text = clean(text)
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _note(level: str, text: str) -> None:
    _err(tr(LEVELS[level], text=text))


def _err(text: str) -> None:
    sys.stderr.write(f"{clean(text)}\n")
    sys.stderr.flush()
