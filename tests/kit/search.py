"""Runs one tool by itself in a directory of its own."""

import os
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from agent_cli.core.display import Display
from agent_cli.core.messages import text_of
from agent_cli.core.model import Model
from agent_cli.core.tool import AnyTool, ToolResult
from agent_cli.core.tool_context import SessionState, SessionView, ToolContext
from agent_cli.safety.paths import Workspace


@dataclass
class Bench:
    """A workspace and what a tool run in it has shown."""

    root: Path
    shown: list[str | Display] = field(default_factory=list)
    state: SessionState = field(default_factory=SessionState)

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def context(self, **environment: str) -> ToolContext:
        own = {"PATH": os.environ["PATH"], "HOME": str(self.root.parent / "home"), **environment}
        workspace = Workspace(str(self.root), home=own["HOME"])
        return ToolContext(
            call_id="call",
            session=SessionView(id="test", workspace=workspace, environment=own),
            model=cast(Model, None),
            cancelled=threading.Event(),
            progress=self.shown.append,
            state=self.state.get,
            call=cast(Any, None),
            ask=cast(Any, None),
            present=cast(Any, None),
        )

    async def run(self, tool: AnyTool, **arguments: Any) -> ToolResult:
        return await tool.bind(arguments).run(self.context())

    async def text(self, tool: AnyTool, **arguments: Any) -> str:
        return text_of((await self.run(tool, **arguments)).llm_content)


def rg_processes(mark: str) -> list[int]:
    """The ripgrep processes whose command line has this text in it."""
    if not sys.platform.startswith("linux"):
        return []
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if b"rg\0" in line and mark.encode() in line:
                found.append(int(entry.name))
    return found
