"""Starts the full-screen app: trust first, then settings, then the session."""

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual.app import App

from agent_cli import commands
from agent_cli.commands._command import Command
from agent_cli.config.places import Places
from agent_cli.core.errors import ExitCode
from agent_cli.core.trust import TooMuch, what_trust_enables
from agent_cli.frontends.tui import themes
from agent_cli.frontends.tui.app import HERE, AgentApp
from agent_cli.frontends.tui.modals.trust import TrustModal
from agent_cli.lib.discovery import values_named
from agent_cli.runtime import (
    Wishes,
    folder_standing,
    load_settings,
    log_file,
    open_session,
    trust_store,
)
from agent_cli.safety.redact import Redactor
from agent_cli.safety.sanitise import clean
from agent_cli.storage.prompt_history import PromptHistory


def run(wishes: Wishes, worker: "subprocess.Popen[bytes] | None", prompt: str | None) -> int:
    """Run until the person leaves; returns the exit code."""
    if not folder_standing(wishes, os.environ).trusted:
        wishes = replace(wishes, trust=_ask_trust(wishes.cwd))
    loaded = load_settings(wishes, os.environ)
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
            for warning in loaded.warnings:
                app.call_later(app.warn, warning)
            code = await app.run_async()
            if app.crash is not None:
                return tell_crash(app.crash)
            return code or 0
        finally:
            await session.close()

    return asyncio.run(play())


def tell_crash(error: Exception) -> int:
    """One line for a terminal that is itself again; the traceback is in the log."""
    where = log_file(Places.of(os.environ))
    what = clean(f"{type(error).__name__}: {error}").partition("\n")[0]
    sys.stderr.write(f"agent: the screen failed ({what}). The log has more: {where}\n")
    return ExitCode.FAILED


def all_commands() -> list[Command]:
    """Every slash command, by name."""
    return list(values_named("COMMAND", commands))


class TrustGate(App[bool]):
    """Asks about a folder before anything of it is loaded."""

    CSS_PATH: ClassVar = [HERE / "app.tcss", HERE / "modals" / "modals.tcss"]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, folder: str, enables: tuple[str, ...]) -> None:
        super().__init__()
        themes.register(self)
        self.theme = themes.by_terminal(os.environ)
        self._modal = TrustModal(folder, enables)

    def on_mount(self) -> None:
        self.push_screen(self._modal, lambda trusted: self.exit(bool(trusted)))


def _ask_trust(folder: Path) -> bool:
    try:
        items = what_trust_enables(folder)
    except TooMuch:
        return False
    told = tuple(f"{item.kind}: {item.path} ({item.detail})" for item in items)
    trusted = bool(TrustGate(str(folder), told).run())
    if trusted:
        try:
            trust_store(Places.of(os.environ)).trust(folder, items)
        except OSError as error:
            sys.stderr.write(f"warning: the answer cannot be stored: {error}\n")
    return trusted
