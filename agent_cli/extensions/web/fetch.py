"""WebFetch: a page as readable text."""

import threading
import time
from typing import Annotated

from pydantic import AfterValidator

from agent_cli.core.display import Display, TextBlock
from agent_cli.core.errors import ToolFailure
from agent_cli.core.tool import Description, StatusTexts, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.extensions.web.address import Address, host_target
from agent_cli.extensions.web.bodies import cut_note, describe, is_html, quote, text_of
from agent_cli.extensions.web.cache import PageCache
from agent_cli.extensions.web.http_client import Client, HttpRequest, HttpResponse
from agent_cli.extensions.web.readable import readable
from agent_cli.lib.language import mark, tr
from agent_cli.lib.text import size
from agent_cli.lib.threads import in_own_thread

READING_TIMEOUT_S = 10.0
"""For making text of a page; what was not reached then is left."""
MAX_ERROR_CHARS = 2_000
"""Characters of the page that comes with an error."""
ACCEPT = "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5"


def _readable_address(url: str) -> str:
    Address.parse(url)
    return url


Url = Annotated[str, AfterValidator(_readable_address)]


class FetchParams(ToolParams):
    """What to fetch."""

    url: Url
    """The page's address, beginning with https:// or http://."""


def fetch_tool(client: Client) -> Tool[FetchParams]:
    """The tool, talking through this client."""

    async def run(params: FetchParams, context: ToolContext) -> ToolResult:
        address = Address.parse(params.url)
        cache, keep_for = context.state(PageCache), client.limits.cache_minutes * 60
        answer = cache.get(str(address), keep_for)
        was_kept = answer is not None
        if answer is None:
            answer = await client.send(
                HttpRequest(address, headers={"Accept": ACCEPT}), follow=True
            )
            if answer.status == 200 and keep_for:
                cache.keep(str(address), answer)
        text = await _text(answer, context.cancelled)
        if answer.status >= 400:
            start = text[:MAX_ERROR_CHARS]
            raise ToolFailure(
                f"{answer.address} returned {answer.status_line}.",
                details=quote(start, "The page that came with it") if start else "",
            )
        return ToolResult(
            llm_content=quote(text, f"{answer.address} ({describe(answer)})"),
            display=(TextBlock(text=text, language="markdown" if is_html(answer) else ""),),
            summary=_summary(answer, was_kept=was_kept),
            metadata={"url": str(answer.address), "status": answer.status, "cached": was_kept},
        )

    return Tool(
        name="WebFetch",
        kind=ToolKind.READONLY,
        params=FetchParams,
        run=run,
        description=Description.beside(__file__),
        targets=host_target,
        title=lambda params: params.url,
        preview=_preview,
        requires_permission=True,
        display_name="Fetch",
        category="web",
        aliases=("web_fetch", "fetch", "fetch_url", "browse", "read_url", "url_fetch", "webfetch"),
        param_aliases={"uri": "url", "link": "url", "address": "url"},
        status=StatusTexts(mark("Fetching…"), mark("Fetch failed")),
        timeout=None,
    )


async def _preview(params: FetchParams, _context: ToolContext) -> Display | None:
    return TextBlock(text=f"GET {Address.parse(params.url)}")


def _summary(answer: HttpResponse, *, was_kept: bool) -> str:
    figures = {"status": answer.status_line, "size": size(len(answer.body))}
    if was_kept:
        return tr("{status}, {size}, cached", **figures)
    return tr("{status}, {size}", **figures)


async def _text(answer: HttpResponse, cancelled: threading.Event) -> str:
    """What to read: of a page its text, of other text all, of the rest what it is."""
    whole = await in_own_thread(lambda: text_of(answer))
    if whole is None:
        return (
            f"(This is not text: {describe(answer)}. To save it as a file, download it with Bash.)"
        )
    if not is_html(answer):
        return _with_note(whole, answer)
    base, until = str(answer.address), time.monotonic() + READING_TIMEOUT_S

    def is_given_up() -> bool:
        return cancelled.is_set() or time.monotonic() > until

    text = await in_own_thread(lambda: readable(whole, base, is_given_up))
    return _with_note(text or "(The page has no text.)", answer)


def _with_note(text: str, answer: HttpResponse) -> str:
    return f"{text}\n\n{cut_note(answer)}" if answer.is_cut else text
