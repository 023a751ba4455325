"""A text edited in the user's own editor, while the view steps aside."""

import asyncio
import os
import shlex
import tempfile
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from agent_cli.lib.files import write_atomic


async def edit_text(text: str, aside: AbstractAsyncContextManager[None], suffix: str) -> str | None:
    """The text as the editor left it; None if the editor failed. `aside` frees the terminal."""
    with tempfile.TemporaryDirectory(prefix="agent-") as directory:
        path = Path(directory) / f"prompt{suffix}"
        write_atomic(path, text.encode("utf-8", "replace"), mode=0o600)
        async with aside:
            process = await asyncio.create_subprocess_exec(*editor(os.environ), str(path))
            code = await process.wait()
        if code != 0:
            return None
        return path.read_text("utf-8", "replace").removesuffix("\n")


def editor(environment: Mapping[str, str]) -> list[str]:
    """The editor's command line."""
    wanted = environment.get("VISUAL") or environment.get("EDITOR") or "vi"
    return shlex.split(wanted) or ["vi"]
