"""The shell tools without a session around them."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agent_cli.core.display import Block, TerminalBlock
from agent_cli.core.errors import ToolFailure
from agent_cli.core.messages import text_of
from agent_cli.core.parts import new_session_id
from agent_cli.core.tool import AnyTool, ToolResult
from agent_cli.core.tool_context import SessionState, SessionView, ShellInfo, ToolContext
from agent_cli.lib import sweep
from agent_cli.lib.watchdog import mark_of
from agent_cli.safety.environment import child_environment
from agent_cli.safety.paths import Workspace
from agent_cli.tools import bash, bash_output, kill_shell
from agent_cli.tools._shell.background_jobs import Jobs
from agent_cli.tools._shell.shell_session import ShellSession


class Bench:
    """A workspace with the shell tools on it."""

    def __init__(self, root: Path, **settings: Any) -> None:
        self.root = root / "project"
        self.root.mkdir()
        self.results = root / "results"
        self.shown: list[str] = []
        self.state = SessionState()
        self.view = SessionView(
            id=new_session_id(),
            workspace=Workspace(root=str(self.root), home=str(root), readable=(str(self.results),)),
            environment=child_environment({**os.environ, "HOME": str(root)}),
            settings={"Bash": settings},
        )

    @property
    def mark(self) -> str:
        """What the marks of all its commands begin with."""
        return mark_of(self.view.id)

    @property
    def standing(self) -> ShellInfo:
        return self.state.get(ShellInfo)

    @property
    def shell(self) -> ShellSession:
        return self.state.get(ShellSession)

    @property
    def jobs(self) -> Jobs:
        return self.state.get(Jobs)

    def context(self) -> ToolContext:
        async def nobody(*_: Any) -> Any:
            raise AssertionError

        return ToolContext(
            call_id="call",
            session=self.view,
            model=None,  # type: ignore[arg-type]
            cancelled=threading.Event(),
            progress=self._progress,
            state=self.state.get,
            call=nobody,
            ask=nobody,
            present=nobody,
        )

    def _progress(self, shown: str | Block) -> None:
        assert isinstance(shown, str)
        self.shown.append(shown)

    async def bash(self, command: str, **more: Any) -> ToolResult:
        return await self._run(bash.TOOL, {"command": command, **more})

    async def read(self, job_id: str, filter: str | None = None) -> ToolResult:
        return await self._run(bash_output.TOOL, {"job_id": job_id, "filter": filter})

    async def kill(self, job_id: str) -> ToolResult:
        return await self._run(kill_shell.TOOL, {"job_id": job_id})

    async def _run(self, tool: AnyTool, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            return await tool.bind(arguments).run(self.context())
        except ToolFailure as failure:
            return ToolResult.from_failure(failure)

    async def says(self, command: str, **more: Any) -> str:
        """What the model reads of a command."""
        return text_of((await self.bash(command, **more)).llm_content)

    def running(self) -> list[int]:
        """Everything alive that this session's shell ever started."""
        return sweep.find(self.mark)

    async def close(self) -> None:
        await self.state.close()


def terminal(result: ToolResult) -> TerminalBlock:
    """The block a person sees."""
    (block,) = result.display
    assert isinstance(block, TerminalBlock)
    return block


async def until(true: Callable[[], Any], seconds: float = 90.0) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited too long"
        await asyncio.sleep(0.01)
