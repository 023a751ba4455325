"""Starts the full-screen app: the session first, then trust, then settings."""

import asyncio
import os
import subprocess
import sys
from dataclasses import dataclass, replace

from agent_cli import commands
from agent_cli.commands._command import Command
from agent_cli.config.layers import Loaded
from agent_cli.config.places import Places
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.core.session import Session
from agent_cli.frontends.shared.past import how_to_resume
from agent_cli.frontends.tui import themes
from agent_cli.frontends.tui.app import AgentApp
from agent_cli.frontends.tui.first_run import with_a_model
from agent_cli.frontends.tui.gates import ask_fork, ask_trust, leave_on_signals
from agent_cli.lib.discovery import values_named
from agent_cli.models.guide import NAME as GUIDE
from agent_cli.models.worker_process import spawn
from agent_cli.resuming import Resume
from agent_cli.runtime import (
    Wishes,
    find_session,
    folder_standing,
    load_settings,
    log_file,
    open_session,
    tidy,
    with_local_facts,
)
from agent_cli.safety.redact import Redactor
from agent_cli.safety.sanitise import clean
from agent_cli.storage.prompt_history import PromptHistory
from agent_cli.storage.session_lock import SessionInUse
from agent_cli.storage.sessions import Sessions, SeveralSessions


@dataclass(frozen=True)
class Left:
    """How a session was left: with an exit code, or for another one."""

    code: int
    id: str
    """The session, if it can be resumed."""
    following: Resume | None = None


def run(wishes: Wishes, worker: "subprocess.Popen[bytes] | None", prompt: str | None) -> int:
    """Run until the person leaves; returns the exit code."""
    if os.environ.get("TERM") == "dumb":
        raise UserError(
            "This terminal cannot show a full screen (TERM=dumb).",
            hint='Use another one, or ask without a screen: agent -p "explain this project"',
        )
    wishes, note = with_a_model(wishes)
    before: Resume | None = None
    while True:
        try:
            left = _run_session(*_found(wishes, prompt), worker, note)
        except SessionInUse as error:
            if not ask_fork(error.message):
                if before is None:
                    raise
                wishes = replace(wishes, resume=before)
            else:
                wishes = replace(wishes, resume=Resume(error.session_id, fork=True))
            continue
        if left.following is None:
            return left.code
        wishes, prompt, note = replace(wishes, resume=left.following), None, ""
        before = Resume(left.id) if left.id else None
        if worker is not None:
            worker = spawn()  # each session ends the process it used


def _found(wishes: Wishes, prompt: str | None) -> tuple[Wishes, str | None]:
    """The session that is meant; where that is not clear, the person is asked in the app."""
    if wishes.resume is None:
        return wishes, prompt
    try:
        return find_session(wishes, os.environ), prompt
    except SeveralSessions as error:
        return replace(wishes, resume=None), f"/sessions {error.words}".rstrip()


def _run_session(
    wishes: Wishes, prompt: str | None, worker: "subprocess.Popen[bytes] | None", note: str
) -> Left:
    if not folder_standing(wishes, os.environ).trusted:
        wishes = replace(wishes, trust=ask_trust(wishes.cwd))
    loaded = with_local_facts(load_settings(wishes, os.environ), os.environ)
    worker = _if_needed(worker, loaded.settings.model)

    async def play() -> Left:
        session = open_session(wishes, loaded.settings, worker=worker)
        tidying = asyncio.create_task(asyncio.to_thread(tidy, loaded.settings, os.environ))
        try:
            return await _show(session, wishes, loaded, prompt, note)
        finally:
            await session.close()
            await tidying

    return asyncio.run(play())


async def _show(
    session: Session, wishes: Wishes, loaded: Loaded, prompt: str | None, note: str
) -> Left:
    places = Places.of(os.environ)
    redact = Redactor.from_environment(os.environ).redact
    app = AgentApp(
        session,
        all_commands(),
        PromptHistory.of_project(places.state, wishes.cwd, redact),
        theme=loaded.settings.theme or themes.by_terminal(os.environ),
        reduced_motion=loaded.settings.reduced_motion,
        first_prompt=prompt,
        log_file=log_file(places),
    )
    app.desk.sessions = Sessions(places.state)
    if note:
        app.call_later(app.chat.note, note)
    for warning in loaded.warnings:
        app.call_later(app.chat.warn, warning)
    leave_on_signals(app)
    code = await app.run_async()
    if app.crash is not None:
        return Left(tell_crash(app.crash, session), session.id)
    if app.desk.following is None and (line := how_to_resume(session)):
        sys.stdout.write(f"{line}\n")
    return Left(code or 0, session.id if session.is_kept else "", app.desk.following)


def _if_needed(
    worker: "subprocess.Popen[bytes] | None", model: str
) -> "subprocess.Popen[bytes] | None":
    """The process that loads LiteLLM, unless it turned out that nobody needs it."""
    if worker is None or model != GUIDE:
        return worker
    worker.kill()
    worker.wait()
    return None


def tell_crash(error: Exception, session: Session) -> int:
    """One line for a terminal that is itself again; the traceback is in the log."""
    where = log_file(Places.of(os.environ))
    what = clean(f"{type(error).__name__}: {error}").partition("\n")[0]
    sys.stderr.write(f"agent: the screen failed ({what}). The log has more: {where}\n")
    if line := how_to_resume(session):
        sys.stderr.write(f"Nothing is lost. {line}\n")
    return ExitCode.FAILED


def all_commands() -> list[Command]:
    """Every slash command, by name."""
    return list(values_named("COMMAND", commands))
