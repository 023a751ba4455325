"""ToolSearch: where servers bring many tools, the model is given names, and schemas on demand."""

import json
import re
from collections.abc import Sequence

from pydantic import Field

from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.tool import AnyTool, Description, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.language import tr

NAME = "ToolSearch"
MAX_LISTING_CHARS = 20_000


class ToolSearchParams(ToolParams):
    query: str = Field(description="Words to look for, or exact names after select: (a,b)")
    limit: int = Field(5, ge=1, le=20, description="How many tools to load at most")


class HiddenTools:
    """The tools that wait to be asked for."""

    def __init__(self) -> None:
        self.loaded: set[str] = set()
        """The names the model has asked for."""
        self._tools: tuple[AnyTool, ...] = ()

    def search_tool(self, tools: Sequence[AnyTool]) -> AnyTool:
        """The tool that finds these; the model gets their names with it."""
        self._tools = tuple(sorted(tools, key=lambda tool: tool.name))
        names = ", ".join(tool.name for tool in self._tools)
        if len(names) > MAX_LISTING_CHARS:
            names = f"{names[:MAX_LISTING_CHARS].rpartition(', ')[0]} and more"
        return Tool(
            name=NAME,
            kind=ToolKind.READONLY,
            params=ToolSearchParams,
            description=Description.beside(__file__).model_copy(
                update={"long": f"The tools that can be loaded: {names}"}
            ),
            run=self._run,
            title=lambda params: params.query,
            category="mcp",
        )

    async def _run(self, params: ToolSearchParams, _context: ToolContext) -> ToolResult:
        found = self._find(params.query)[: params.limit]
        if not found:
            raise ToolFailure(
                f"No tool matches {params.query[:80]!r}.",
                type=FailureType.VALIDATION,
                details="Try other words, or select:NAME with a name from the description.",
            )
        self.loaded |= {tool.name for tool in found}
        told = "\n\n".join(json.dumps(t.declaration["function"], ensure_ascii=False) for t in found)
        names = ", ".join(tool.name for tool in found)
        return ToolResult(
            llm_content=f"Loaded, call them now:\n\n{told}",
            summary=tr("Loaded {names}", names=names),
        )

    def _find(self, query: str) -> list[AnyTool]:
        """The tools that fit best, first those with the words in their names."""
        if query.startswith("select:"):
            wanted = {name.strip() for name in query.removeprefix("select:").split(",")}
            return [tool for tool in self._tools if tool.name in wanted]
        words = [word for word in re.split(r"\W+|_", query.lower()) if word]
        scored = [(_score(tool, words), tool) for tool in self._tools]
        best = sorted((each for each in scored if each[0]), key=lambda each: -each[0])
        return [tool for _, tool in best]


def _score(tool: AnyTool, words: Sequence[str]) -> int:
    name, text = tool.name.lower(), tool.description.for_model.lower()
    return sum(3 * (word in name) + (word in text) for word in words)
