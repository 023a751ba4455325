"""Serves one editor on standard input and output until it goes away."""

import asyncio
import logging
import os
import signal
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from agent_cli.controller.background import Background
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.launch_options import LaunchOptions
from agent_cli.lib.language import tr

if TYPE_CHECKING:
    from acp.interfaces import Agent

log = logging.getLogger(__name__)


def run(launch_options: LaunchOptions) -> int:
    """Serve until the editor closes the pipe; returns the exit code."""
    if find_spec("acp") is None:
        raise UserError(
            tr("Editor support needs the package agent-client-protocol."),
            hint=tr('Install the extra: pip install "agent-cli[acp]"'),
        )
    source, sink = _take_over()
    return asyncio.run(_serve(launch_options, source, sink))


def _take_over() -> tuple[int, int]:
    """Standard input and output for the protocol alone.

    Whoever else prints prints to standard error, and no child can read or hold the editor's pipes.
    """
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        os.dup2(nothing, 1)
    os.close(nothing)
    return source, sink


async def _serve(launch_options: LaunchOptions, source: int, sink: int) -> int:
    from acp.agent.connection import AgentSideConnection  # noqa: PLC0415 (an extra, slow to load)

    from agent_cli.frontends.acp.agent import EditorAgent  # noqa: PLC0415 (needs the extra)
    from agent_cli.frontends.acp.json_lines import JsonLines  # noqa: PLC0415 (with the others)

    agent = EditorAgent(launch_options)
    lines = await JsonLines.over(source, sink)
    connection = AgentSideConnection(
        cast("Agent", agent),  # of the methods there may be, those that it has
        lines,
        listening=False,
        use_unstable_protocol=True,
    )
    background = Background(log.warning, lambda what, error: log.error(what, exc_info=error))
    listening = background.start(connection.listen(), "listening to the editor failed")
    signals: list[int] = []

    def leave(number: int) -> None:
        signals.append(128 + number)
        listening.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, leave, number)
    try:
        await asyncio.wait([listening])
    finally:
        await connection.close()
        await agent.close()
    return signals[0] if signals else ExitCode.DONE
