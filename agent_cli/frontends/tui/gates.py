"""What is asked before there is a session: one modal on an empty screen."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import ClassVar

from textual.app import App

from agent_cli.config.places import Places
from agent_cli.core.trust import TooMuch, what_trust_enables
from agent_cli.frontends.tui import themes
from agent_cli.frontends.tui.app import HERE
from agent_cli.frontends.tui.modals.guarded import GuardedModal
from agent_cli.frontends.tui.modals.in_use import InUseModal
from agent_cli.frontends.tui.modals.trust import TrustModal
from agent_cli.runtime import trust_store


class Gate(App[int]):
    """Asks one question.

    Ends with 1 for yes and 0 for no; with another number, or without one, somebody wants to leave.
    """

    CSS_PATH: ClassVar = [HERE / "app.tcss", HERE / "modals" / "modals.tcss"]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, modal: GuardedModal[bool]) -> None:
        super().__init__()
        themes.register(self)
        self.theme = themes.by_terminal(os.environ)
        self._modal = modal

    def on_mount(self) -> None:
        leave_on_signals(self)
        self.push_screen(self._modal, lambda answer: self.exit(int(bool(answer))))

    def on_guarded_modal_cancelled(self, event: GuardedModal.Cancelled) -> None:
        event.stop()
        self.exit()


def leave_on_signals(app: App[int]) -> None:
    """Being told to end, or losing the terminal, is a way to leave like any other."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, app.exit, 128 + number)


def ask_trust(folder: Path) -> bool:
    """Whether the person trusts a folder; the answer is kept if it is yes."""
    try:
        items = what_trust_enables(folder)
    except TooMuch:
        return False
    told = tuple(f"{item.kind}: {item.path} ({item.detail})" for item in items)
    if not _ask(TrustModal(str(folder), told)):
        return False
    try:
        trust_store(Places.of(os.environ)).trust(folder, items)
    except OSError as error:
        sys.stderr.write(f"warning: the answer cannot be stored: {error}\n")
    return True


def ask_fork(message: str) -> bool:
    """Whether the person wants to go on in a copy of a session that is open elsewhere."""
    return _ask(InUseModal(message))


def _ask(modal: GuardedModal[bool]) -> bool:
    answer = Gate(modal).run()
    if answer not in (0, 1):
        raise KeyboardInterrupt
    return bool(answer)
