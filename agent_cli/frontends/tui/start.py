"""Starts the full-screen app: the prompt first, then everything that a session needs.

What is imported here is loaded before anything can be seen; the rest is in `opening`.
"""

import asyncio
import gc
import os
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from textual.app import App

from agent_cli.config.glance import glance
from agent_cli.config.places import Places
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.frontends.tui import themes
from agent_cli.frontends.tui.app import AgentApp
from agent_cli.safety.sanitise import clean
from agent_cli.storage.program_log import start_log
from agent_cli.wishes import Wishes

if TYPE_CHECKING:
    from agent_cli.frontends.tui.opening import Opened


def run(wishes: Wishes, prompt: str | None = None) -> int:
    """Run until the person leaves; returns the exit code."""
    if os.environ.get("TERM") == "dumb":
        raise UserError(
            "This terminal cannot show a full screen (TERM=dumb).",
            hint='Use another one, or ask without a screen: agent -p "explain this project"',
        )
    start_log(Places.of(os.environ).log_file)
    return asyncio.run(_play(wishes, prompt))


async def _play(wishes: Wishes, prompt: str | None) -> int:
    looks = glance(os.environ)
    app = AgentApp(
        lambda: _opened(app, wishes),
        root=wishes.cwd,
        theme=looks.theme or themes.by_terminal(os.environ),
        reduced_motion=looks.reduced_motion,
        first_prompt=prompt,
    )
    _leave_on_signals(app)
    try:
        code = await app.run_async()
    finally:
        if app.is_open:
            await app.session.close()
    if app.refusal is not None:
        raise app.refusal
    if app.crash is not None:
        return tell_crash(app.crash)
    return code or 0


async def _opened(app: AgentApp, wishes: Wishes) -> "Opened":
    try:
        opening = await asyncio.to_thread(import_module, "agent_cli.frontends.tui.opening")
        opened: Opened = await opening.open_chat(app, wishes)
        return opened
    finally:
        gc.freeze()  # what is loaded by now stays, and need not be looked at again
        gc.enable()


def _leave_on_signals(app: App[int]) -> None:
    """Being told to end, or losing the terminal, is a way to leave like any other."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, app.exit, 128 + number)


def tell_crash(error: Exception) -> int:
    """One line for a terminal that is itself again; the traceback is in the log."""
    where = Places.of(os.environ).log_file
    what = clean(f"{type(error).__name__}: {error}").partition("\n")[0]
    sys.stderr.write(f"agent: the screen failed ({what}). The log has more: {where}\n")
    return ExitCode.FAILED
