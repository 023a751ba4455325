"""Opens the session behind the prompt: settings, trust, tools. Loaded after the first paint."""

import asyncio
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_cli.config.places import Places
from agent_cli.core.session import Session
from agent_cli.folder import folder_standing, load_all_settings
from agent_cli.frontends.shared.slash import all_commands
from agent_cli.frontends.shared.trusting import keep_trust, told, trust_items
from agent_cli.frontends.tui.chat import Chat
from agent_cli.frontends.tui.desk import ScreenDesk
from agent_cli.frontends.tui.first_run import with_a_model
from agent_cli.frontends.tui.modals.in_use import InUseModal
from agent_cli.frontends.tui.modals.trust import TrustModal
from agent_cli.runtime import built_in_tools, find_session, open_session, tidy
from agent_cli.storage.prompt_history import PromptHistory
from agent_cli.storage.session_lock import SessionInUse
from agent_cli.storage.sessions import Sessions, SeveralSessions
from agent_cli.wishes import Resume, Wishes

if TYPE_CHECKING:
    from agent_cli.frontends.tui.app import AgentApp


@dataclass(frozen=True)
class Opened:
    """What the app needs beside the prompt."""

    chat: Chat
    desk: ScreenDesk
    history: PromptHistory
    theme: str = ""
    """The look that the settings name."""
    warnings: tuple[str, ...] = ()
    note: str = ""
    """What was found out about the model, where nobody named one."""
    choosing: str | None = None
    """The words to choose a session by; None: there is nothing to choose."""


async def open_chat(app: "AgentApp", wishes: Wishes) -> Opened:
    """Open a session as wished; raises UserError. Asks for trust first, where that is due."""
    places = Places.of(os.environ)
    wishes, choosing = await asyncio.to_thread(_found, wishes)
    wishes, note = await with_a_model(app, wishes)
    warnings: list[str] = []
    if not folder_standing(wishes, os.environ).trusted:
        wishes = replace(wishes, trust=await _ask_trust(app, wishes.cwd, places, warnings))
    loaded = await asyncio.to_thread(load_all_settings, wishes, os.environ)
    registry = await asyncio.to_thread(built_in_tools)
    try:
        session = open_session(wishes, loaded.settings, registry=registry)
    except SessionInUse as error:
        if not await app.push_screen_wait(InUseModal(error.message)):
            raise
        copy = replace(wishes, resume=Resume(error.session_id, fork=True))
        wishes = await asyncio.to_thread(find_session, copy, os.environ)
        session = open_session(wishes, loaded.settings, registry=registry)
    app.run_worker(asyncio.to_thread(tidy, loaded.settings, os.environ), exclusive=False)
    opened = connect(
        app,
        session,
        PromptHistory.of_project(places.state, wishes.cwd, session.redact),
        theme=loaded.settings.theme,
        warnings=(*warnings, *loaded.warnings),
        log_file=places.log_file,
    )
    opened.desk.sessions = Sessions(places.state)
    return replace(opened, choosing=choosing, note=note)


def _found(wishes: Wishes) -> tuple[Wishes, str | None]:
    """The session that is meant; where that is not clear, the words to choose it by."""
    try:
        return find_session(wishes, os.environ), None
    except SeveralSessions as error:
        return replace(wishes, resume=None), error.words


def connect(
    app: "AgentApp",
    session: Session,
    history: PromptHistory,
    *,
    theme: str = "",
    warnings: tuple[str, ...] = (),
    log_file: Path | None = None,
) -> Opened:
    """Put a session and the app's widgets together."""
    chat = Chat(app, app.widgets, session, log_file=log_file)
    desk = ScreenDesk(app, chat, app.widgets.transcript, all_commands())
    return Opened(chat, desk, history, theme, warnings)


async def _ask_trust(app: "AgentApp", folder: Path, places: Places, warnings: list[str]) -> bool:
    """Whether the person trusts the folder; asked before anything of it is loaded."""
    items = await asyncio.to_thread(trust_items, folder)
    if items is None or not await app.push_screen_wait(TrustModal(str(folder), told(items))):
        return False
    if warning := keep_trust(folder, items, places):
        warnings.append(warning)
    return True
