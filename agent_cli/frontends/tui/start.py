"""Starts the full-screen app: the prompt first, then everything that a session needs.

What is imported here is loaded before anything can be seen; the rest is in `app_parts`.
"""

import asyncio
import gc
import os
import signal
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from agent_cli.config.glance import glance
from agent_cli.config.user_directories import Directories
from agent_cli.controller.past import as_resume, how_to_resume
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.frontends.tui import themes
from agent_cli.frontends.tui.app import AgentApp
from agent_cli.launch_options import LaunchOptions, Resume
from agent_cli.lib.language import tr
from agent_cli.safety.redact import Redactor
from agent_cli.safety.sanitise import clean
from agent_cli.safety.terminal import write_err, write_out
from agent_cli.storage.program_log import start_log
from agent_cli.storage.session_lock import SessionInUse

if TYPE_CHECKING:
    from agent_cli.core.session import Session
    from agent_cli.frontends.tui.app_parts import AppParts


@dataclass(frozen=True)
class AppExit:
    """How a session was left: with an exit code, or for another one."""

    code: int
    resumable: Resume | None = None
    """How to come back to it; None: nothing was said in it."""
    following: Resume | None = None
    draft: str = ""
    """What was written and not sent; it comes along."""


def run(launch_options: LaunchOptions, prompt: str | None = None) -> int:
    """Run until the user leaves; returns the exit code."""
    redact = Redactor.from_environment(os.environ).redact
    start_log(Directories.of(os.environ).log_file, redact)
    before: LaunchOptions | None = None
    trouble = draft = ""
    while True:
        try:
            left = asyncio.run(_play(launch_options, prompt, trouble, draft))
        except UserError as error:
            if before is None:
                raise
            trouble = "" if isinstance(error, SessionInUse) else f"{error.message} {error.hint}"
            launch_options, before = before, None
            continue
        if left.following is None:
            return left.code
        before = replace(launch_options, resume=left.resumable)
        launch_options, prompt = replace(launch_options, resume=left.following), None
        trouble, draft = "", left.draft


async def _play(
    launch_options: LaunchOptions, prompt: str | None, trouble: str, draft: str
) -> AppExit:
    looks = glance(os.environ)
    app = AgentApp(
        lambda: _open(app, launch_options, trouble),
        root=launch_options.cwd,
        theme=looks.theme or themes.by_terminal(os.environ),
        reduced_motion=looks.reduced_motion,
        first_prompt=prompt,
        draft=draft,
        real_terminal="TEXTUAL_DRIVER" not in os.environ,
    )
    # Being told to end, or losing the terminal, is a way to leave like any other.
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, app.exit, 128 + number)
    try:
        code = await app.run_async()
    finally:
        if app.is_open:
            await app.session.close()
    if app.refusal is not None:
        raise app.refusal
    return _read_exit(app, code or 0)


def _read_exit(app: AgentApp, code: int) -> AppExit:
    session = app.session if app.is_open else None
    if app.crash is not None:
        return AppExit(tell_crash(app.crash, session))
    if session is None:
        return AppExit(code)
    following = app.controller.following
    if following is None and (line := how_to_resume(session)):
        write_out(f"{line}\n")
    return AppExit(code, as_resume(session), following, app.composer.prompt.draft)


async def _open(app: AgentApp, launch_options: LaunchOptions, trouble: str) -> "AppParts":
    try:
        opening = await asyncio.to_thread(import_module, "agent_cli.frontends.tui.app_parts")
        opened: AppParts = await opening.open_conversation(app, launch_options)
        return replace(opened, warnings=(*opened.warnings, trouble)) if trouble else opened
    finally:
        gc.freeze()  # what is loaded by now stays, and need not be looked at again
        gc.enable()


def tell_crash(error: Exception, session: "Session | None" = None) -> int:
    """One line for a terminal that is itself again; the traceback is in the log."""
    where = Directories.of(os.environ).log_file
    what = clean(f"{type(error).__name__}: {error}").partition("\n")[0]
    line = tr("agent: the screen failed ({what}). Details are in {path}.", what=what, path=where)
    write_err(f"{line}\n")
    if session is not None and (how := how_to_resume(session)):
        write_err(tr("Your session is saved. {how}", how=how) + "\n")
    return ExitCode.FAILED
