"""Starts the inline frontend: trust first, then settings, then the session."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import AsyncExitStack
from dataclasses import replace

from agent_cli.config.places import Places
from agent_cli.config.schema import Settings
from agent_cli.core.errors import ExitCode
from agent_cli.frontends.repl.asking import Asking
from agent_cli.frontends.repl.completing import Completing
from agent_cli.frontends.repl.flat import FlatStage
from agent_cli.frontends.repl.live import LiveStage
from agent_cli.frontends.repl.stage import Abandoned
from agent_cli.frontends.repl.talk import Talk
from agent_cli.frontends.repl.teller import Teller
from agent_cli.frontends.shared.file_index import FileIndex
from agent_cli.frontends.shared.signs import ASCII, WORDS
from agent_cli.frontends.shared.slash import all_commands
from agent_cli.frontends.shared.terminal import moves_cursor
from agent_cli.frontends.shared.trusting import keep_trust, told, trust_items
from agent_cli.runtime import (
    Wishes,
    chosen_model,
    folder_standing,
    load_settings,
    log_file,
    open_session,
)
from agent_cli.safety.redact import Redactor
from agent_cli.storage.prompt_history import PromptHistory

Stage = LiveStage | FlatStage


def run(
    wishes: Wishes, worker: "subprocess.Popen[bytes] | None", *, is_read_aloud: bool = False
) -> int:
    """Run until the person leaves or the input ends; returns the exit code."""
    settings = load_settings(wishes, os.environ).settings
    chosen_model(settings)  # before the person is asked anything
    return asyncio.run(_play(wishes, settings, worker, is_read_aloud=is_read_aloud))


async def _play(
    wishes: Wishes,
    first: Settings,
    worker: "subprocess.Popen[bytes] | None",
    *,
    is_read_aloud: bool,
) -> int:
    history = PromptHistory.of_project(
        Places.of(os.environ).state, wishes.cwd, Redactor.from_environment(os.environ).redact
    )
    stage = _stage(wishes, history, first, is_read_aloud=is_read_aloud)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(stage)
        try:
            wishes = await _with_trust(wishes, stage)
        except Abandoned:
            return ExitCode.INTERRUPTED
        loaded = load_settings(wishes, os.environ)
        session = open_session(wishes, loaded.settings, worker=worker)
        stack.push_async_callback(session.close)
        teller = Teller(stage, is_still=loaded.settings.reduced_motion)
        talk = Talk(
            session,
            stage,
            teller,
            all_commands(),
            history,
            log_file=log_file(Places.of(os.environ)),
        )
        leaving = _leave_on_signals(talk)
        for warning in loaded.warnings:
            talk.warn(warning)
        listening = asyncio.create_task(_listen(stage, talk, teller))
        try:
            code = await talk.run(is_greeted=wishes.attended)
        finally:
            listening.cancel()
            await asyncio.wait([listening])
        if leaving:
            return leaving[0]
        return code if wishes.attended is False else ExitCode.DONE
    raise AssertionError("the stack lets every exception through")


def _stage(
    wishes: Wishes, history: PromptHistory, settings: Settings, *, is_read_aloud: bool
) -> Stage:
    """The best this terminal can do."""
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    can_move = is_terminal and moves_cursor(os.environ)
    if is_read_aloud or not can_move:
        return FlatStage(WORDS if is_read_aloud else ASCII, marks_pastes=can_move)
    return LiveStage(
        os.environ,
        completer=Completing(all_commands(), FileIndex(wishes.cwd)),
        history=history.entries(),
        is_still=settings.reduced_motion,
    )


async def _with_trust(wishes: Wishes, stage: Stage) -> Wishes:
    """The wishes with the person's answer, if somebody can be asked and has to be."""
    if not wishes.attended or folder_standing(wishes, os.environ).trusted:
        return wishes
    items = trust_items(wishes.cwd)
    if items is None:
        return wishes
    trusts = await Asking(stage).trust(str(wishes.cwd), told(items))
    if trusts:
        keep_trust(wishes.cwd, items, os.environ)
    return replace(wishes, trust=trusts)


async def _listen(stage: Stage, talk: Talk, teller: Teller) -> None:
    if isinstance(stage, FlatStage):
        await stage.listen(talk)
        return
    stage.view = teller.live
    stage.audience = talk
    for text in stage.early:
        talk.submitted(text)
    stage.changed()


def _leave_on_signals(talk: Talk) -> list[int]:
    """Being told to end, or losing the terminal, is a way to leave like any other."""
    codes: list[int] = []

    def leave(number: int) -> None:
        codes.append(128 + number)
        talk.leave()

    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, leave, number)
    return codes
