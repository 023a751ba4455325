"""HttpRequest: a call to an HTTP interface, answered as it stands."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from agent_cli.core.display import Display, TextBlock
from agent_cli.core.tool import Description, StatusTexts, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.extensions.web.address import Address, host_target
from agent_cli.extensions.web.bodies import cut_note, describe, quote, text_of
from agent_cli.extensions.web.fetch import Url
from agent_cli.extensions.web.http_client import Client, HttpRequest, HttpResponse
from agent_cli.lib.language import mark, tr
from agent_cli.lib.text import size
from agent_cli.lib.threads import in_own_thread
from agent_cli.safety.tokens import words

HARMLESS = frozenset({"GET", "HEAD", "OPTIONS"})
_RESERVED_HEADERS = words(
    "host content-length transfer-encoding connection upgrade te trailer expect"
    " accept-encoding keep-alive proxy-authorization proxy-connection"
)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def _sendable(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            raise ValueError(f"{name!r} cannot be the name of a header")
        if name.lower() in _RESERVED_HEADERS:
            raise ValueError(f"the header {name} is set by the program")
        if re.search(r"[\x00-\x08\x0a-\x1f\x7f]", value) or not value.isascii():
            raise ValueError(f"the header {name} holds a character that cannot be sent")
    return headers


class RequestParams(ToolParams):
    """What to send."""

    url: Url
    """The address, beginning with https:// or http://."""
    method: Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    """The method."""
    headers: Annotated[dict[str, str], AfterValidator(_sendable)] = Field({})
    """Headers to send, such as {"Content-Type": "application/json"}."""
    body: str = ""
    """What to send along, as text."""


def request_tool(client: Client) -> Tool[RequestParams]:
    """The tool, talking through this client."""

    async def run(params: RequestParams, _context: ToolContext) -> ToolResult:
        answer = await client.send(
            HttpRequest(
                Address.parse(params.url), params.method, params.headers, params.body.encode()
            )
        )
        told = await in_own_thread(lambda: "\n".join(_describe(answer)))
        return ToolResult(
            llm_content=quote(told, f"The response of {answer.address} to {params.method}"),
            display=(TextBlock(text=told),),
            summary=tr("{status}, {size}", status=answer.status_line, size=size(len(answer.body))),
            metadata={"status": answer.status},
        )

    return Tool(
        name="HttpRequest",
        kind=ToolKind.EXECUTE,
        params=RequestParams,
        run=run,
        description=Description.beside(__file__),
        targets=host_target,
        kind_of=lambda params: ToolKind.READONLY if params.method in HARMLESS else ToolKind.EXECUTE,
        is_dangerous=lambda params: params.method not in HARMLESS,
        title=lambda params: f"{params.method} {params.url}",
        preview=_preview,
        display_name="HTTP request",
        category="web",
        aliases=("http_request", "http", "call_api", "api_request", "curl"),
        param_aliases={"uri": "url", "data": "body", "verb": "method"},
        status=StatusTexts(mark("Waiting for a response…"), mark("HTTP request failed")),
        timeout=None,
    )


async def _preview(params: RequestParams, _context: ToolContext) -> Display | None:
    lines = [f"{params.method} {Address.parse(params.url)}"]
    lines += [f"{name}: {value}" for name, value in params.headers.items()]
    return TextBlock(text="\n".join(lines) + (f"\n\n{params.body}" if params.body else ""))


def _describe(answer: HttpResponse) -> Iterator[str]:
    yield answer.status_line
    yield from (f"{name}: {value}" for name, value in answer.headers)
    if not answer.body:
        return
    yield ""
    text = text_of(answer)
    yield text if text is not None else f"(This is not text: {describe(answer)}.)"
    if answer.is_cut:
        yield cut_note(answer)
