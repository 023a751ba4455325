"""Runs one prompt, or those that come on standard input."""

import asyncio
import contextlib
import select
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent_cli.controller.past import how_to_resume
from agent_cli.controller.wording import sentences
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.core.session import Session
from agent_cli.frontends.headless.headless_view import HeadlessView, OutputFormat, err, note
from agent_cli.frontends.headless.input_lines import read_lines
from agent_cli.lib.language import tr

if TYPE_CHECKING:
    from agent_cli.frontends.headless.structured import Structured

INPUT_TIMEOUT_S = 3.0
"""Until piped input must begin when there is a prompt already."""
EXTENSIONS_TIMEOUT_S = 15.0
"""That a prompt waits for extensions: nobody could say it again later."""


@dataclass(frozen=True)
class Options:
    """How to answer."""

    output: OutputFormat = "text"
    schema: dict[str, Any] | None = None
    """A JSON Schema that the final answer must satisfy."""


async def run(session: Session, prompt: str | None, options: Options) -> int:
    """One prompt, or those of standard input if there is none; returns the exit code."""
    view = HeadlessView(session, options.output)
    try:
        view.controller.start_extensions()
        await session.extensions.wait_ready(EXTENSIONS_TIMEOUT_S)
        if prompt is None:
            return await _run_stream(view)
        return await _run_once(view, prompt, options)
    finally:
        await view.controller.close()


async def _run_once(view: HeadlessView, prompt: str, options: Options) -> int:
    structured = _make_structured(options)
    finished = await view.play(structured.prompt(prompt) if structured else prompt)
    while (
        structured
        and finished
        and finished.reason == "done"
        and (again := structured.check(finished.text))
    ):
        finished = await view.play(again)
    return view.conclude(finished, structured)


async def _run_stream(view: HeadlessView) -> int:
    """Turns as they come on standard input, one JSON object a line; ends with the input."""
    prompts: asyncio.Queue[str | None] = asyncio.Queue()
    reading = read_lines(view, prompts)
    view.controller.background.start(reading, tr("Reading standard input failed"))
    await view.controller.session.warm()
    code = int(ExitCode.DONE)
    while (prompt := await prompts.get()) is not None:
        try:
            code = view.conclude(await view.play(prompt), None)
        except UserError as error:
            note("error", sentences(error.message, error.hint))
            code = error.exit_code
    return code if view.has_read_all else code or int(ExitCode.FAILED)


def tell_how_to_resume(session: Session) -> None:
    """One line, for a user; a program finds the id among the events."""
    if sys.stderr.isatty() and (line := how_to_resume(session)):
        err(line)


def _make_structured(options: Options) -> "Structured | None":
    if options.schema is None:
        return None
    from agent_cli.frontends.headless.structured import Structured  # noqa: PLC0415 (slow)

    return Structured(options.schema)


def read_prompt(given: str | None) -> str:
    """The prompt: `-p TEXT`, with piped input added to it, or `-p -` for the input alone."""
    if given is None or given == "-":
        prompt = sys.stdin.read()
    else:
        piped = _read_piped()
        prompt = f"{given}\n\n{piped}" if piped.strip() else given
    if not prompt.strip():
        raise UserError(
            tr("There is no prompt."), hint=tr('Pass one: agent -p "explain this project"')
        )
    return prompt


def _read_piped() -> str:
    """What is piped in; an inherited pipe that stays empty is not waited for."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    with contextlib.suppress(OSError, ValueError):  # what cannot be waited for can be read at once
        if not select.select([sys.stdin], [], [], INPUT_TIMEOUT_S)[0]:
            note("warning", tr("No input on stdin; continuing without it."))
            return ""
    return sys.stdin.read()
