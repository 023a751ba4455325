"""Tools called directly, without a session around them."""

import threading
from pathlib import Path
from typing import Any

from agent_cli.core.display import Display
from agent_cli.core.errors import ToolFailure
from agent_cli.core.messages import text_of
from agent_cli.core.tool import AnyTool, ToolResult
from agent_cli.core.tool_context import SessionState, SessionView, ToolContext
from agent_cli.models.scripted import ScriptedModel
from agent_cli.safety.paths import Workspace
from agent_cli.tools._files import FileMemory


class Hands:
    """Calls tools in one workspace, with one memory, as one session would."""

    def __init__(self, workspace: Path, *, takes_images: bool = False) -> None:
        self.workspace = workspace
        self.cancelled = threading.Event()
        self._state = SessionState()
        self._view = SessionView(
            id="test",
            workspace=Workspace(str(workspace), home=str(workspace.parent / "home")),
            environment={},
            takes_images=takes_images,
        )

    def context(self, call_id: str = "call") -> ToolContext:
        async def unavailable(*_: Any) -> Any:
            raise ToolFailure("not here")

        return ToolContext(
            call_id=call_id,
            session=self._view,
            model=ScriptedModel([]),
            cancelled=self.cancelled,
            progress=lambda _: None,
            state=self._state.get,
            call=unavailable,
            ask=unavailable,
            present=unavailable,
        )

    @property
    def memory(self) -> FileMemory:
        return self._state.get(FileMemory)

    async def call(self, tool: AnyTool, **arguments: Any) -> ToolResult:
        """The result, whether it went well or not."""
        try:
            return await tool.bind(arguments).run(self.context())
        except ToolFailure as failure:
            return ToolResult.from_failure(failure)

    async def told(self, tool: AnyTool, **arguments: Any) -> str:
        """What the model is told."""
        return text_of((await self.call(tool, **arguments)).llm_content)

    async def preview(self, tool: AnyTool, **arguments: Any) -> Display | None:
        assert tool.preview is not None
        return await tool.preview(tool.bind(arguments).params, self.context())
