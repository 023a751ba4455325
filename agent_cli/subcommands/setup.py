"""`agent setup`: chooses a model, tests it and saves it with its key."""

import argparse
import asyncio
import os
import sys

from agent_cli.config.user_directories import Directories
from agent_cli.core.errors import ExitCode
from agent_cli.lib.language import tr
from agent_cli.lib.own_environment import forget
from agent_cli.models.guide import NAME as GUIDE
from agent_cli.models.providers import take_credentials
from agent_cli.safety.terminal import write_out
from agent_cli.setup.model_choice import ModelChoice
from agent_cli.setup.plain import PlainDialog
from agent_cli.setup.setup_flow import set_up
from agent_cli.setup.setup_service import SetupService


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `agent setup`."""
    parser.add_argument(
        "--plain", action="store_true", help=tr("ask in plain text, without full screen")
    )


def run(options: argparse.Namespace) -> int:
    """Ask, in whichever way the terminal allows."""
    choice = asyncio.run(_ask(plain=options.plain or not _has_screen()))
    if choice is None:
        return ExitCode.FAILED
    if choice.model == GUIDE:
        told = tr(
            "Nothing was changed. `agent --model {guide}` starts the offline guide.", guide=GUIDE
        )
        write_out(f"{told}\n")
    return ExitCode.DONE


def _has_screen() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


async def _ask(*, plain: bool) -> ModelChoice | None:
    variables = dict(os.environ)
    forget(take_credentials(dict(os.environ)))
    service = SetupService(Directories.of(os.environ), variables)
    try:
        if plain:
            return await set_up(service, PlainDialog())
        from agent_cli.frontends.tui.setting_up import ask_on_screen  # noqa: PLC0415 (slow)

        return await ask_on_screen(service)
    finally:
        await service.close()
