"""Opens the session behind the prompt: settings, trust, tools. Loaded after the first paint."""

import asyncio
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent_cli.commands import all_commands
from agent_cli.config.schema import Settings
from agent_cli.config.user_directories import Directories
from agent_cli.controller import answers
from agent_cli.controller.controller import Controller
from agent_cli.controller.view import Menu, MenuRow
from agent_cli.core.session import Session
from agent_cli.folder import folder_standing, load_all_settings, load_settings
from agent_cli.frontends.shared.first_run_text import clear_choice, naming
from agent_cli.frontends.shared.trusting import describe_items, keep_trust, trust_items
from agent_cli.frontends.tui.guarded_app import run_in_background
from agent_cli.frontends.tui.modals.menu import MenuModal
from agent_cli.frontends.tui.screen_view import ScreenView
from agent_cli.launch_options import LaunchOptions, Resume
from agent_cli.lib.language import tr
from agent_cli.resuming import prepare
from agent_cli.runtime import built_in_tools, find_session, open_session, tidy, whole_environment
from agent_cli.safety.sanitise import visible
from agent_cli.storage.prompt_history import PromptHistory
from agent_cli.storage.session_lock import SessionInUse
from agent_cli.storage.session_store import Sessions, SeveralSessions

if TYPE_CHECKING:
    from agent_cli.frontends.tui.app import AgentApp

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AppParts:
    """What the app needs beside the prompt."""

    controller: Controller
    view: ScreenView
    history: PromptHistory
    theme: str = ""
    """The theme that the settings name."""
    warnings: tuple[str, ...] = ()
    note: str = ""
    """What was found out about the model, where nobody named one."""
    choosing: str | None = None
    """The words to choose a session by; None: there is nothing to choose."""


async def open_conversation(app: "AgentApp", launch_options: LaunchOptions) -> AppParts:
    """Open a session as wished; raises UserError. Asks for trust first, where that is due."""
    places = Directories.of(os.environ)
    launch_options, choosing = await asyncio.to_thread(_find_session, launch_options)
    launch_options, note = await _with_a_model(app, launch_options)
    warnings: list[str] = []
    if not folder_standing(launch_options, os.environ).trusted:
        launch_options = replace(
            launch_options, trust=await _ask_trust(app, launch_options.cwd, places, warnings)
        )
    loaded = await asyncio.to_thread(load_all_settings, launch_options, os.environ)
    registry = await asyncio.to_thread(built_in_tools)
    try:
        session = open_session(launch_options, loaded.settings, registry=registry)
    except SessionInUse as error:
        rows = (MenuRow(visible(error.message, one_line=True)),)
        menu = Menu(tr(answers.IN_USE_HEADING), answers.in_use_answers(), rows)
        if await app.show_screen(MenuModal(menu)) != "yes":
            raise
        copy = replace(launch_options, resume=Resume(error.session_id, fork=True))
        launch_options = await asyncio.to_thread(find_session, copy, os.environ)
        session = open_session(launch_options, loaded.settings, registry=registry)
    opened = connect(
        app,
        session,
        PromptHistory.of_project(places.state, launch_options.cwd, session.redact),
        theme=loaded.settings.theme,
        warnings=(*warnings, *loaded.warnings),
        log_file=places.log_file,
        sessions=Sessions(places.state, session.redact),
    )
    run_in_background(app, lambda: _tidy(loaded.settings), tr("Deleting old sessions failed"))
    return replace(opened, choosing=choosing, note=note)


def _find_session(launch_options: LaunchOptions) -> tuple[LaunchOptions, str | None]:
    """The session that is meant; where that is not clear, the words to choose it by."""
    try:
        return find_session(launch_options, os.environ), None
    except SeveralSessions as error:
        return replace(launch_options, resume=None), error.words


async def _with_a_model(
    app: "AgentApp", launch_options: LaunchOptions
) -> tuple[LaunchOptions, str]:
    """Options that name a model, and what to tell the user about it; raises UserError."""
    environment = whole_environment()
    loaded = await asyncio.to_thread(load_settings, launch_options, environment)
    if loaded.settings.model:
        return launch_options, ""
    choice, note = await clear_choice(environment)
    if choice is None:
        from agent_cli.frontends.tui.setting_up import SetupScreen  # noqa: PLC0415 (rarely needed)
        from agent_cli.setup.setup_service import SetupService  # noqa: PLC0415

        service = SetupService(Directories.of(environment), environment)
        try:
            choice = await app.show_screen(SetupScreen(service))
        finally:
            await service.close()
    return naming(launch_options, choice), note


def connect(
    app: "AgentApp",
    session: Session,
    history: PromptHistory,
    *,
    theme: str = "",
    warnings: tuple[str, ...] = (),
    log_file: Path | None = None,
    sessions: Sessions | None = None,
) -> AppParts:
    """Put a session and the app's widgets together."""
    view = ScreenView(app, session, sessions)
    here = Path(session.workspace.root)
    view.controller = Controller(
        session,
        view,
        commands=all_commands(),
        history=history,
        log_file=log_file,
        prepare=partial(prepare, cwd=here, sessions=sessions) if sessions else None,
    )
    return AppParts(view.controller, view, history, theme, warnings)


async def _tidy(settings: Settings) -> None:
    """Delete old sessions; nobody waits for it, so nobody is told if it fails."""
    try:
        await asyncio.to_thread(tidy, settings, os.environ)
    except Exception:
        log.exception("old sessions could not be deleted")


async def _ask_trust(
    app: "AgentApp", folder: Path, places: Directories, warnings: list[str]
) -> bool:
    """Whether the user trusts the folder; asked before anything of it is loaded."""
    items = await asyncio.to_thread(trust_items, folder)
    if items is None:
        return False
    menu = trust_menu(str(folder), describe_items(items))
    if await app.show_screen(MenuModal(menu)) != "yes":
        return False
    if warning := keep_trust(folder, items, places):
        warnings.append(warning)
    return True


def trust_menu(folder: str, enables: Sequence[str] = ()) -> Menu:
    """`enables` says what trust would turn on: "2 hooks in .agent/hooks.toml"."""
    texts = [folder, "", tr(answers.TRUST_MEANING)]
    if enables:
        texts += ["", tr(answers.TRUST_ENABLES), *(f"  · {text}" for text in enables)]
    rows = [MenuRow(visible(text, one_line=True)) for text in texts]
    no, yes = answers.trust_answers()
    return Menu(tr(answers.TRUST_HEADING), (no, replace(yes, disabled=True)), rows)
