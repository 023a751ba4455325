"""Starts the inline frontend: trust first, then settings, then one session after the other."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace

from rich.text import Text

from agent_cli.commands import all_commands
from agent_cli.config.layers import LoadedSettings
from agent_cli.config.schema import Settings
from agent_cli.config.user_directories import Directories
from agent_cli.controller import answers as words
from agent_cli.controller.background import Background
from agent_cli.controller.endings import exit_code
from agent_cli.controller.past import as_resume, how_to_resume
from agent_cli.controller.wording import sentences
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.core.session import Session
from agent_cli.folder import folder_standing, load_all_settings, load_settings
from agent_cli.frontends.repl import drawing
from agent_cli.frontends.repl.completing import Completing
from agent_cli.frontends.repl.flat_stage import FlatStage
from agent_cli.frontends.repl.inline_view import InlineView
from agent_cli.frontends.repl.live_stage import LiveStage
from agent_cli.frontends.repl.stage import Abandoned
from agent_cli.frontends.shared import signs
from agent_cli.frontends.shared.approval_text import one_line
from agent_cli.frontends.shared.file_index import FileIndex
from agent_cli.frontends.shared.first_run_text import clear_choice, naming
from agent_cli.frontends.shared.terminal_facts import moves_cursor
from agent_cli.frontends.shared.trusting import describe_items, keep_trust, trust_items
from agent_cli.launch_options import LaunchOptions, Resume
from agent_cli.lib.language import tr
from agent_cli.models.warm_client import Worker
from agent_cli.models.worker_process import spawn
from agent_cli.runtime import (
    chosen_model,
    find_session,
    open_session,
    tidy,
    whole_environment,
)
from agent_cli.safety.redact import Redactor
from agent_cli.safety.sanitise import clean
from agent_cli.safety.terminal import write_err
from agent_cli.setup.model_choice import ModelChoice
from agent_cli.setup.overlay import learn
from agent_cli.storage.prompt_history import PromptHistory
from agent_cli.storage.session_lock import SessionInUse
from agent_cli.storage.session_store import Sessions, SeveralSessions

log = logging.getLogger(__name__)

EXTENSIONS_TIMEOUT_S = 15.0
"""Seconds that piped prompts wait for extensions."""
Stage = LiveStage | FlatStage


def run(
    launch_options: LaunchOptions, worker: Worker | None, *, is_read_aloud: bool = False
) -> int:
    """Run until the user leaves or the input ends; returns the exit code."""
    launch_options, prompt = _find_session(launch_options)
    launch_options, note = asyncio.run(_with_a_model(launch_options))
    settings = load_settings(launch_options, whole_environment()).settings
    note = "\n".join(filter(None, (note, learn(settings, Directories.of(os.environ)))))
    history = PromptHistory.of_project(
        Directories.of(os.environ).state,
        launch_options.cwd,
        Redactor.from_environment(os.environ).redact,
    )

    async def play() -> int:
        stage = _stage(launch_options, history, settings, is_read_aloud=is_read_aloud)
        async with stage:
            try:
                return await _Show(stage, history, note).play(launch_options, prompt, worker)
            except Abandoned:
                return ExitCode.INTERRUPTED

    try:
        return asyncio.run(play())
    except UserError:
        raise
    except Exception as error:
        log.exception("the inline prompt failed")
        what = clean(f"{type(error).__name__}: {error}").partition("\n")[0]
        where = Directories.of(os.environ).log_file
        said = tr("the prompt failed ({what}). Details are in {log}.", what=what, log=where)
        write_err(f"agent: {said}\n")
        return ExitCode.FAILED


async def _with_a_model(launch_options: LaunchOptions) -> tuple[LaunchOptions, str]:
    """Wishes that name a model, and what to tell the user about it; raises UserError."""
    environment = whole_environment()
    settings = load_settings(launch_options, environment).settings
    if settings.model or not launch_options.attended:
        chosen_model(settings)
        return launch_options, ""
    choice, note = await clear_choice(environment)
    return naming(launch_options, choice or await _ask_for_model(environment)), note


async def _ask_for_model(environment: dict[str, str]) -> ModelChoice | None:
    from agent_cli.setup.plain import PlainDialog  # noqa: PLC0415
    from agent_cli.setup.setup_flow import set_up  # noqa: PLC0415
    from agent_cli.setup.setup_service import SetupService  # noqa: PLC0415 (rarely needed)

    desk = SetupService(Directories.of(environment), environment)
    try:
        return await set_up(desk, PlainDialog())
    finally:
        await desk.close()


def _find_session(launch_options: LaunchOptions) -> tuple[LaunchOptions, str]:
    """The session that is meant; where that is not clear, the user is asked at the prompt."""
    try:
        return find_session(launch_options, os.environ), ""
    except SeveralSessions as error:
        if not launch_options.attended:
            raise
        return replace(launch_options, resume=None), f"/sessions {error.words}".rstrip()


def _stage(
    launch_options: LaunchOptions,
    history: PromptHistory,
    settings: Settings,
    *,
    is_read_aloud: bool,
) -> Stage:
    """The best this terminal can do."""
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    can_move = is_terminal and moves_cursor(os.environ)
    if is_read_aloud or not can_move:
        spoken = signs.words() if is_read_aloud else signs.ASCII
        return FlatStage(spoken, marks_pastes=can_move)
    background = Background(log.warning, lambda what, error: log.error(what, exc_info=error))
    return LiveStage(
        os.environ,
        background=background,
        completer=Completing(all_commands(), FileIndex(launch_options.cwd), background),
        history=history.entries(),
        is_still=settings.reduced_motion,
    )


class _Show:
    """Sessions at one stage, one after the other."""

    def __init__(self, stage: Stage, history: PromptHistory, note: str) -> None:
        self._stage = stage
        self._history = history
        self._signals: list[int] = []
        self._warning = ""
        self._note = note

    async def play(self, launch_options: LaunchOptions, prompt: str, worker: Worker | None) -> int:
        """Until the user leaves; returns the exit code."""
        before: LaunchOptions | None = None
        while True:
            try:
                launch_options = await asyncio.to_thread(find_session, launch_options, os.environ)
                launch_options = await self._with_trust(launch_options)
                loaded = await asyncio.to_thread(load_all_settings, launch_options, os.environ)
                session = open_session(launch_options, loaded.settings, worker=worker)
            except SessionInUse as error:
                launch_options = await self._copy_of(error, launch_options, before)
                continue
            except UserError as error:
                if before is None:
                    raise
                self._warning = sentences(error.message, error.hint)
                launch_options, before = before, None
                continue
            following, code = await self._session(session, launch_options, loaded, prompt)
            if following is None:
                return code
            before = replace(launch_options, resume=as_resume(session))
            launch_options = replace(launch_options, resume=following)
            prompt, worker = "", spawn() if worker is not None else None

    async def _session(
        self, session: Session, launch_options: LaunchOptions, loaded: LoadedSettings, prompt: str
    ) -> tuple[Resume | None, int]:
        places = Directories.of(os.environ)
        view = InlineView(
            session,
            self._stage,
            Sessions(places.state, session.redact),
            history=self._history,
            log_file=places.log_file,
            is_still=loaded.settings.reduced_motion,
        )
        controller = view.controller
        self._leave_on_signals(view)
        if launch_options.attended:
            view.greet()
        if self._note:
            view.say(self._note)
        for warning in filter(None, (self._warning, *loaded.warnings)):
            controller.warn(warning)
        try:
            controller.begin()
            before = controller.finished
            listening = self._listen(view, prompt, is_attended=launch_options.attended)
            controller.background.start(listening, tr("Reading the prompt failed"))
            tidying = asyncio.to_thread(tidy, loaded.settings, os.environ)
            controller.background.start(tidying, tr("Deleting old sessions failed"))
            await view.left.wait()
        finally:
            self._stage.view = None
            await controller.close()
            await session.close()
        if (
            controller.following is None
            and launch_options.attended
            and (line := how_to_resume(session))
        ):
            view.notify(line)
        if self._signals:
            return None, self._signals[0]
        finished = controller.finished
        code = exit_code(finished) if finished and finished is not before else ExitCode.DONE
        return controller.following, ExitCode.DONE if launch_options.attended else code

    async def _with_trust(self, launch_options: LaunchOptions) -> LaunchOptions:
        """The wishes with the user's answer, if somebody can be asked and has to be."""
        if not launch_options.attended or folder_standing(launch_options, os.environ).trusted:
            return launch_options
        items = trust_items(launch_options.cwd)
        if items is None:
            return launch_options
        lines = [
            Text(one_line(str(launch_options.cwd)), drawing.STRONG),
            Text(tr(words.TRUST_MEANING)),
        ]
        if items:
            bullet = self._stage.signs.bullet
            lines.append(Text(tr(words.TRUST_ENABLES)))
            lines += [Text(f"  {bullet} {one_line(each)}") for each in describe_items(items)]
        trusts = await self._confirm(lines, tr(words.TRUST_HEADING), words.trust_answers())
        if trusts:
            self._warning = keep_trust(launch_options.cwd, items, Directories.of(os.environ))
        return replace(launch_options, trust=trusts)

    async def _copy_of(
        self, error: SessionInUse, launch_options: LaunchOptions, before: LaunchOptions | None
    ) -> LaunchOptions:
        """The wish for a copy of a session that is open elsewhere, or for what was before it."""
        if not launch_options.attended:
            raise error
        lines = [Text(one_line(error.message))]
        if await self._confirm(lines, tr(words.IN_USE_HEADING), words.in_use_answers()):
            return replace(launch_options, resume=Resume(error.session_id, fork=True))
        if before is None:
            raise error
        return before

    async def _confirm(
        self, lines: Sequence[Text], heading: str, answers: Sequence[words.AnswerOption]
    ) -> bool:
        self._stage.paper.put(*lines)
        with self._stage.paper.hold():
            return await self._stage.choose(heading, answers) == "yes"

    async def _listen(self, view: InlineView, prompt: str, *, is_attended: bool) -> None:
        if prompt:
            view.controller.submit(prompt)
        if isinstance(self._stage, FlatStage):
            if not is_attended:  # nobody could say it again later
                view.controller.start_extensions()
                await view.controller.session.extensions.wait_ready(EXTENSIONS_TIMEOUT_S)
            await self._stage.listen(view)
        else:
            self._stage.listen(view)

    def _leave_on_signals(self, view: InlineView) -> None:
        """Being told to end, or losing the terminal, is a way to leave like any other."""

        def leave(number: int) -> None:
            self._signals.append(128 + number)
            view.leave()

        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, leave, number)
