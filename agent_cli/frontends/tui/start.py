"""Starts the full-screen app: trust first, then settings, then the session."""

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual.app import App

from agent_cli import commands
from agent_cli.commands._command import Command
from agent_cli.config.places import Places
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.core.trust import TooMuch, what_trust_enables
from agent_cli.frontends.tui import themes
from agent_cli.frontends.tui.app import HERE, AgentApp
from agent_cli.frontends.tui.first_run import with_a_model
from agent_cli.frontends.tui.modals.guarded import GuardedModal
from agent_cli.frontends.tui.modals.trust import TrustModal
from agent_cli.lib.discovery import values_named
from agent_cli.models.guide.model import NAME as GUIDE
from agent_cli.runtime import (
    Wishes,
    folder_standing,
    load_settings,
    log_file,
    open_session,
    trust_store,
    with_local_facts,
)
from agent_cli.safety.redact import Redactor
from agent_cli.safety.sanitise import clean
from agent_cli.storage.prompt_history import PromptHistory


def run(wishes: Wishes, worker: "subprocess.Popen[bytes] | None", prompt: str | None) -> int:
    """Run until the person leaves; returns the exit code."""
    if os.environ.get("TERM") == "dumb":
        raise UserError(
            "This terminal cannot show a full screen (TERM=dumb).",
            hint='Use another one, or ask without a screen: agent -p "explain this project"',
        )
    wishes, note = with_a_model(wishes)
    if not folder_standing(wishes, os.environ).trusted:
        wishes = replace(wishes, trust=_ask_trust(wishes.cwd))
    loaded = with_local_facts(load_settings(wishes, os.environ), os.environ)
    worker = _if_needed(worker, loaded.settings.model)
    history = PromptHistory.of_project(
        Places.of(os.environ).state, wishes.cwd, Redactor.from_environment(os.environ).redact
    )

    async def play() -> int:
        session = open_session(wishes, loaded.settings, worker=worker)
        try:
            app = AgentApp(
                session,
                all_commands(),
                history,
                theme=loaded.settings.theme or themes.by_terminal(os.environ),
                reduced_motion=loaded.settings.reduced_motion,
                first_prompt=prompt,
                log_file=log_file(Places.of(os.environ)),
            )
            if note:
                app.call_later(app.chat.note, note)
            for warning in loaded.warnings:
                app.call_later(app.chat.warn, warning)
            _leave_on_signals(app)
            code = await app.run_async()
            if app.crash is not None:
                return tell_crash(app.crash)
            return code or 0
        finally:
            await session.close()

    return asyncio.run(play())


def _if_needed(
    worker: "subprocess.Popen[bytes] | None", model: str
) -> "subprocess.Popen[bytes] | None":
    """The process that loads LiteLLM, unless it turned out that nobody needs it."""
    if worker is None or model != GUIDE:
        return worker
    worker.kill()
    worker.wait()
    return None


def _leave_on_signals(app: App[int]) -> None:
    """Being told to end, or losing the terminal, is a way to leave like any other."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, app.exit, 128 + number)


def tell_crash(error: Exception) -> int:
    """One line for a terminal that is itself again; the traceback is in the log."""
    where = log_file(Places.of(os.environ))
    what = clean(f"{type(error).__name__}: {error}").partition("\n")[0]
    sys.stderr.write(f"agent: the screen failed ({what}). The log has more: {where}\n")
    return ExitCode.FAILED


def all_commands() -> list[Command]:
    """Every slash command, by name."""
    return list(values_named("COMMAND", commands))


class TrustGate(App[int]):
    """Asks about a folder before anything of it is loaded.

    Ends with 1 for yes and 0 for no; with another number, or without one, somebody wants to leave.
    """

    CSS_PATH: ClassVar = [HERE / "app.tcss", HERE / "modals" / "modals.tcss"]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, folder: str, enables: tuple[str, ...]) -> None:
        super().__init__()
        themes.register(self)
        self.theme = themes.by_terminal(os.environ)
        self._modal = TrustModal(folder, enables)

    def on_mount(self) -> None:
        _leave_on_signals(self)
        self.push_screen(self._modal, lambda trusted: self.exit(int(bool(trusted))))

    def on_guarded_modal_cancelled(self, event: GuardedModal.Cancelled) -> None:
        event.stop()
        self.exit()


def _ask_trust(folder: Path) -> bool:
    try:
        items = what_trust_enables(folder)
    except TooMuch:
        return False
    told = tuple(f"{item.kind}: {item.path} ({item.detail})" for item in items)
    answer = TrustGate(str(folder), told).run()
    if answer not in (0, 1):
        raise KeyboardInterrupt
    if answer:
        try:
            trust_store(Places.of(os.environ)).trust(folder, items)
        except OSError as error:
            sys.stderr.write(f"warning: the answer cannot be stored: {error}\n")
    return bool(answer)
