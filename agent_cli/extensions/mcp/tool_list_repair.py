"""Puts a list of tools right as it comes in: one described wrongly must not cost all others."""

from typing import Any


def mend(message: Any) -> Any:
    """The same message; if it answers with tools, each of them is readable, or gone."""
    result = getattr(getattr(message, "message", None), "result", None)
    if isinstance(result, dict) and isinstance(result.get("tools"), list):
        result["tools"] = [mended for tool in result["tools"] if (mended := _tool(tool))]
    return message


def _tool(tool: Any) -> dict[str, Any] | None:
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        return None
    schema = tool.get("inputSchema")
    mended = {
        "name": tool["name"],
        # The schema of answers is left out: the package would hold it against them in our loop,
        # patterns of the server's making against data of the server's making.
        "inputSchema": {**(schema if isinstance(schema, dict) else {}), "type": "object"},
    }
    mended |= {key: tool[key] for key in ("title", "description") if isinstance(tool.get(key), str)}
    claims = tool.get("annotations")
    if isinstance(claims, dict):
        mended["annotations"] = {
            name: value
            for name, value in claims.items()
            if isinstance(value, bool) or (name == "title" and isinstance(value, str))
        }
    return mended


class RepairedStream:
    """A stream of messages, each of them mended."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def receive(self) -> Any:
        return mend(await self._inner.receive())

    def __aiter__(self) -> "RepairedStream":
        return self

    async def __anext__(self) -> Any:
        return mend(await self._inner.__anext__())

    async def __aenter__(self) -> "RepairedStream":
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._inner.__aexit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
