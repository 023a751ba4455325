"""The lines of stream-json input: prompts, answers by id, interrupts."""

import asyncio
import sys
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from agent_cli.core.inbox import Answers, Approval, PlanAnswer, RequestAnswer
from agent_cli.core.session import Session
from agent_cli.frontends.headless.headless_view import HeadlessView, note
from agent_cli.lib.language import tr


class TextLine(BaseModel):
    """The next turn, or a message for the one under way."""

    model_config = ConfigDict(extra="forbid")
    type: Literal["prompt", "steer"]
    text: str


class ReplyLine(BaseModel):
    """The answer to an approval, a question or a plan, by its id."""

    model_config = ConfigDict(extra="forbid")
    type: Literal["reply"]
    id: str
    answer: (
        Literal["once", "confined", "session", "project", "no", "default", "accept-edits", "keep"]
        | None
    ) = None
    reason: str = ""
    plan: str = ""
    """The plan as the user changed it."""
    answers: tuple[str, ...] | None = None


class InterruptLine(BaseModel):
    """End the turn under way."""

    model_config = ConfigDict(extra="forbid")
    type: Literal["interrupt"]


Line = TextLine | ReplyLine | InterruptLine
_LINE: TypeAdapter[Line] = TypeAdapter(Line)


async def read_lines(view: HeadlessView, prompts: asyncio.Queue[str | None]) -> None:
    """Carry out the lines of standard input until it ends."""
    reader = asyncio.StreamReader(limit=64 * 1024 * 1024)
    loop = asyncio.get_running_loop()
    try:
        try:
            await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        except ValueError:  # a file is there as a whole
            reader.feed_data(await asyncio.to_thread(sys.stdin.buffer.read))
            reader.feed_eof()
        while line := await reader.readline():
            if line.strip():
                _carry_out(line, view.controller.session, prompts)
        view.has_read_all = True
    finally:
        prompts.put_nowait(None)
        view.end_of_input()


def _carry_out(line: bytes, session: Session, prompts: asyncio.Queue[str | None]) -> None:
    try:
        wish = _LINE.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        what, shown = first["msg"], repr(line[:200])
        note("error", tr("Invalid line of input ({what}): {line}", what=what, line=shown))
        return
    match wish:
        case TextLine():
            if wish.type == "prompt" or not session.steer(wish.text):
                prompts.put_nowait(wish.text)
        case InterruptLine():
            session.interrupt()
        case ReplyLine():
            if not session.reply(wish.id, _answer(wish)):
                note("error", tr("{id} isn't waiting for an answer.", id=wish.id))


def _answer(wish: ReplyLine) -> RequestAnswer:
    """The answer in the form its words belong to; the inbox takes any other form as a no."""
    if wish.answers is not None:
        return Answers(answers=wish.answers)
    match wish.answer:
        case "default" | "accept-edits" | "keep":
            return PlanAnswer(answer=wish.answer, plan=wish.plan, reason=wish.reason)
        case _:
            return Approval(answer=wish.answer or "no", reason=wish.reason)
