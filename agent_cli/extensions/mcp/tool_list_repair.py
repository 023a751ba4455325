"""Puts a list of tools right as it comes in: one described wrongly must not cost all others."""

from typing import Any


def repair(message: Any) -> Any:
    """The same message; if it answers with tools, each of them is readable, or gone."""
    result = getattr(getattr(message, "message", None), "result", None)
    if isinstance(result, dict) and isinstance(result.get("tools"), list):
        result["tools"] = [repaired for tool in result["tools"] if (repaired := _tool(tool))]
    return message


def _tool(tool: Any) -> dict[str, Any] | None:
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        return None
    schema = tool.get("inputSchema")
    repaired = {
        "name": tool["name"],
        # The schema of answers is left out: the package would hold it against them in our loop,
        # patterns of the server's making against data of the server's making.
        "inputSchema": {**(schema if isinstance(schema, dict) else {}), "type": "object"},
    }
    repaired |= {
        key: tool[key] for key in ("title", "description") if isinstance(tool.get(key), str)
    }
    claims = tool.get("annotations")
    if isinstance(claims, dict):
        repaired["annotations"] = {
            name: value
            for name, value in claims.items()
            if isinstance(value, bool) or (name == "title" and isinstance(value, str))
        }
    return repaired


class RepairedStream:
    """A stream of messages, each of them repaired."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def receive(self) -> Any:
        return repair(await self._inner.receive())

    def __aiter__(self) -> "RepairedStream":
        return self

    async def __anext__(self) -> Any:
        return repair(await self._inner.__anext__())

    async def __aenter__(self) -> "RepairedStream":
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._inner.__aexit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
