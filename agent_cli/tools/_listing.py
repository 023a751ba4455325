"""Lists the files below a directory, as ripgrep chooses them."""

import time
from collections.abc import AsyncGenerator
from typing import Any

from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.language import trn
from agent_cli.tools._places import decode
from agent_cli.tools._ripgrep import ripgrep
from agent_cli.tools._secrets import describe_ruled_out

_PROGRESS_EVERY_S = 1.0
"""Seconds between two words on how far a long listing has come."""


def may_be_read(paths: list[str], context: ToolContext) -> tuple[list[str], str]:
    """The paths without those that a rule keeps from being read, and what to tell about them."""
    if context.may_read is None:
        return paths, ""
    kept = [path for path in paths if context.may_read(path)]
    return kept, describe_ruled_out(len(paths) - len(kept))


async def list_files(
    command: Any, directory: str, context: ToolContext
) -> AsyncGenerator[list[str], None]:
    """Absolute paths, some at a time."""
    command.files().null()
    rest, count, told = b"", 0, time.monotonic()
    async with ripgrep(command, context, directory=directory, paths=[directory]) as rg:
        while chunk := await rg.read():
            whole, _, rest = (rest + chunk).rpartition(b"\0")
            if whole:
                paths = decode(whole).split("\0")
                count += len(paths)
                yield paths
            if time.monotonic() - told > _PROGRESS_EVERY_S:
                told = time.monotonic()
                context.progress(trn("{n:,} file so far\n", "{n:,} files so far\n", count))
        await rg.problems()
