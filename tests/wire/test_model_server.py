"""The scripted model server, as the real litellm sees it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.kit import failures
from tests.kit.chaos import cases
from tests.kit.model_server import (
    Call,
    Cut,
    Failure,
    ModelServer,
    Raw,
    Reply,
    Reset,
    Stall,
    Usage,
    chaos,
    running_server,
)
from tests.kit.script import SIGNATURE, Hangup, Pause

ROOT = Path(__file__).parent.parent.parent
MODELS = {
    "openai": ("openai/gpt-4o", "/v1"),
    "anthropic": ("anthropic/claude-sonnet-4-5", ""),
    "gemini": ("gemini/gemini-2.5-flash", "/v1beta"),
}
READ = {
    "type": "function",
    "function": {
        "name": "Read",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
}
TWO_CALLS = Reply(
    "Let me look.", calls=[Call("Read", {"path": "a.txt"}), Call("Read", {"path": "b.txt"})]
)

every_wire = pytest.mark.parametrize("wire", list(MODELS))


@pytest.fixture(scope="session")
def litellm() -> ModuleType:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    import litellm

    litellm.suppress_debug_info = True
    return litellm


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@dataclass
class Heard:
    """What arrived, put together from the deltas."""

    text: str = ""
    reasoning: str = ""
    signatures: list[str] = field(default_factory=list)
    calls: dict[int, list[str]] = field(default_factory=dict)
    finish: str | None = None
    usage: Any = None

    def add(self, chunk: Any) -> None:
        self.usage = getattr(chunk, "usage", None) or self.usage
        for choice in chunk.choices[:1]:
            self.finish = choice.finish_reason or self.finish
            self._add_delta(choice.delta)

    def _add_delta(self, delta: Any) -> None:
        self.text += delta.content or ""
        self.reasoning += getattr(delta, "reasoning_content", None) or ""
        for block in getattr(delta, "thinking_blocks", None) or ():
            self.signatures += [block["signature"]] if block.get("signature") else []
        for part in delta.tool_calls or ():
            name_and_arguments = self.calls.setdefault(part.index, ["", ""])
            name_and_arguments[0] = part.function.name or name_and_arguments[0]
            name_and_arguments[1] += part.function.arguments


def request(litellm: ModuleType, server: ModelServer, wire: str, **options: Any) -> Any:
    model, path = MODELS[wire]
    return litellm.acompletion(
        model=model,
        api_base=server.url + path,
        api_key="test",
        messages=[{"role": "user", "content": "hi"}],
        tools=[READ],
        max_retries=0,
        _skip_mcp_handler=True,
        **options,
    )


async def listen(litellm: ModuleType, server: ModelServer, wire: str) -> Heard:
    heard = Heard()
    options = {"stream": True, "stream_options": {"include_usage": True}}
    async for chunk in await request(litellm, server, wire, **options):
        heard.add(chunk)
    return heard


@every_wire
async def test_text_arrives_whole(litellm: ModuleType, server: ModelServer, wire: str) -> None:
    server.say("Hello there, it is a fine day.")
    heard = await listen(litellm, server, wire)
    assert heard.text == "Hello there, it is a fine day."
    assert heard.finish == "stop"
    assert server.requests[0].wire == wire
    assert server.requests[0].stream
    assert server.disconnects == 0


@every_wire
async def test_two_parallel_calls_arrive_apart(
    litellm: ModuleType, server: ModelServer, wire: str
) -> None:
    server.add(TWO_CALLS)
    heard = await listen(litellm, server, wire)
    assert heard.text == "Let me look."
    assert heard.calls == {0: ["Read", '{"path": "a.txt"}'], 1: ["Read", '{"path": "b.txt"}']}
    assert heard.finish == "tool_calls"


@every_wire
async def test_reasoning_arrives_apart_from_text(
    litellm: ModuleType, server: ModelServer, wire: str
) -> None:
    server.add(Reply("Yes.", thinking="Is it so? It seems to be."))
    heard = await listen(litellm, server, wire)
    assert heard.reasoning == "Is it so? It seems to be."
    assert heard.text == "Yes."
    assert heard.signatures == ([SIGNATURE] if wire == "anthropic" else [])


async def test_gemini_hides_the_signature_in_the_id_of_the_first_call(
    litellm: ModuleType, server: ModelServer
) -> None:
    server.add(TWO_CALLS)
    answer = await request(litellm, server, "gemini")
    first, second = answer.choices[0].message.tool_calls
    assert first.id.endswith("__thought__" + SIGNATURE)
    assert "__thought__" not in second.id


@every_wire
async def test_usage_counts_the_cache(litellm: ModuleType, server: ModelServer, wire: str) -> None:
    written = 3 if wire == "anthropic" else 0
    server.add(Reply("hi", usage=Usage(input=10, output=20, cache_read=5, cache_written=written)))
    usage = (await listen(litellm, server, wire)).usage
    assert usage.prompt_tokens == 15 + written
    assert usage.completion_tokens == 20
    assert usage.prompt_tokens_details.cached_tokens == 5


@every_wire
async def test_an_answer_in_one_body_says_the_same(
    litellm: ModuleType, server: ModelServer, wire: str
) -> None:
    server.add(Reply("Yes.", thinking="Hm.", calls=TWO_CALLS.calls))
    answer = await request(litellm, server, wire)
    message = answer.choices[0].message
    assert (message.content, message.reasoning_content) == ("Yes.", "Hm.")
    paths = [json.loads(call.function.arguments)["path"] for call in message.tool_calls]
    assert paths == ["a.txt", "b.txt"]
    assert not server.requests[0].stream


@every_wire
async def test_a_wrong_key_is_an_authentication_error(
    litellm: ModuleType, server: ModelServer, wire: str
) -> None:
    server.add(failures.unauthorized())
    with pytest.raises(litellm.AuthenticationError):
        await listen(litellm, server, wire)
    assert len(server.requests) == 1


@every_wire
async def test_the_wait_a_provider_asks_for_can_be_read(
    litellm: ModuleType, server: ModelServer, wire: str
) -> None:
    server.add(failures.rate_limited("7"))
    with pytest.raises(Exception, match="RateLimitError") as caught:
        await listen(litellm, server, wire)
    assert caught.value.status_code == 429
    origin = getattr(caught.value, "original_exception", None) or caught.value
    assert origin.litellm_response_headers["retry-after"] == "7"


@every_wire
async def test_a_full_context_is_told_in_the_providers_words(
    litellm: ModuleType, server: ModelServer, wire: str
) -> None:
    server.add(failures.context_overflow())
    with pytest.raises(litellm.ContextWindowExceededError):
        await listen(litellm, server, wire)


@every_wire
async def test_leaving_in_the_middle_is_seen(
    litellm: ModuleType, server: ModelServer, wire: str
) -> None:
    server.add(Stall(Reply("one two three four five six"), at="text"))
    begun = asyncio.Event()

    async def consume() -> None:
        async for _ in await request(litellm, server, wire, stream=True):
            begun.set()

    task = asyncio.create_task(consume())
    await begun.wait()
    task.cancel()
    assert await server.saw_disconnect(2)
    with pytest.raises(asyncio.CancelledError):
        await task


@every_wire
async def test_leaving_before_the_first_byte_is_seen(
    litellm: ModuleType, server: ModelServer, wire: str
) -> None:
    server.add(Stall(headers=False))
    task = asyncio.create_task(listen(litellm, server, wire))
    await server.wait_for_requests(1)
    task.cancel()
    assert await server.saw_disconnect(2)
    with pytest.raises(asyncio.CancelledError):
        await task


@every_wire
@pytest.mark.parametrize("how", ["close", "reset"])
async def test_a_cut_inside_a_call_is_an_error(
    litellm: ModuleType, server: ModelServer, wire: str, how: Any
) -> None:
    server.add(Cut(TWO_CALLS, at="call", how=how))
    with pytest.raises(litellm.exceptions.MidStreamFallbackError):
        await listen(litellm, server, wire)
    assert server.disconnects == 0, "the server left, not the client"


@every_wire
async def test_an_error_in_the_stream_is_an_error(
    litellm: ModuleType, server: ModelServer, wire: str
) -> None:
    server.add(Cut(TWO_CALLS, at="text", error=failures.overloaded()))
    with pytest.raises(litellm.exceptions.MidStreamFallbackError, match=r"[Oo]verloaded"):
        await listen(litellm, server, wire)


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_a_missing_finish_shows_only_in_the_wrapper(
    litellm: ModuleType, server: ModelServer, wire: str
) -> None:
    """litellm invents `stop`; pinned here because safety hangs on telling the two apart."""
    server.add(Cut(TWO_CALLS, at="call", how="end"), TWO_CALLS)
    finishes = []
    for _ in range(2):
        stream = await request(litellm, server, wire, stream=True)
        heard = Heard()
        async for chunk in stream:
            heard.add(chunk)
        finishes.append((heard.finish, stream.received_finish_reason))
    assert finishes == [("stop", None), ("tool_calls", "tool_calls")]


@every_wire
async def test_a_login_page_looks_like_an_empty_answer(
    litellm: ModuleType, server: ModelServer, wire: str
) -> None:
    """No error comes from litellm: only the missing usage and finish reason tell."""
    server.add(*chaos(cases()["html-instead-of-json"]))
    stream = await request(litellm, server, wire, stream=True)
    heard = Heard()
    async for chunk in stream:
        heard.add(chunk)
    assert (heard.text, heard.finish, heard.usage) == ("", "stop", None)
    assert stream.received_finish_reason is None
    assert stream.intermittent_finish_reason is None


async def test_a_comment_in_the_stream_ends_it_on_gemini_only(
    litellm: ModuleType, server: ModelServer
) -> None:
    heard = {}
    for wire in MODELS:
        server.add(*chaos(cases()["sse-comment"]))
        heard[wire] = (await listen(litellm, server, wire)).text
    assert heard == {"openai": "x", "anthropic": "x", "gemini": ""}


async def test_a_reset_before_headers_is_retried_by_litellm_on_some_wires(
    litellm: ModuleType, server: ModelServer
) -> None:
    server.add(Reset())
    with pytest.raises(litellm.InternalServerError):
        await listen(litellm, server, "openai")
    server.add(Reset())
    server.say("again")
    assert (await listen(litellm, server, "anthropic")).text == "again"
    assert [request.wire for request in server.requests] == ["openai", "anthropic", "anthropic"]


async def test_raw_bytes_go_out_as_they_are(server: ModelServer) -> None:
    server.add(Raw((b"data: {no", b"pe\n\n"), content_type="text/plain"))
    _, answer = await asyncio.to_thread(_post, server.url + "/v1/chat/completions")
    assert answer == b"data: {nope\n\n"


async def test_a_callable_step_sees_the_request(litellm: ModuleType, server: ModelServer) -> None:
    server.add(lambda asked: Reply(asked.body["messages"][0]["content"].upper()))
    assert (await listen(litellm, server, "openai")).text == "HI"


async def test_when_the_script_is_used_up_the_default_answers(
    litellm: ModuleType, server: ModelServer
) -> None:
    assert (await listen(litellm, server, "openai")).text == "The script is at its end."
    server.default = failures.unavailable()
    with pytest.raises(litellm.ServiceUnavailableError):
        await listen(litellm, server, "openai")


async def test_a_stall_goes_on_when_told(litellm: ModuleType, server: ModelServer) -> None:
    go = asyncio.Event()
    server.add(Stall(Reply("one two three four"), at="text", until=go))
    task = asyncio.create_task(listen(litellm, server, "anthropic"))
    await server.wait_for_requests(1)
    assert not task.done()
    go.set()
    assert (await task).text == "one two three four"


@pytest.mark.parametrize("case", cases().values(), ids=list(cases()))
async def test_every_chaos_case_can_be_played(case: dict[str, Any]) -> None:
    steps = chaos(case, times=50)
    if case["id"] == "dns-failure":
        assert steps == [], "no server can play an unknown host"
        return
    for path in ("/v1/chat/completions", "/v1/messages", "/m/x:streamGenerateContent", "/api/chat"):
        async with ModelServer(*steps) as server:
            for step in steps:
                expected = step.status if isinstance(step, Failure) else 200
                if not _ends_early(step):
                    status, _ = await asyncio.to_thread(_post, server.url + path)
                    assert status == expected


def _ends_early(step: Any) -> bool:
    pieces = getattr(step, "pieces", ())
    return isinstance(step, Reset | Stall) or any(isinstance(p, Pause | Hangup) for p in pieces)


def _post(url: str) -> tuple[int, bytes]:
    body = json.dumps({"model": "m", "stream": True}).encode()
    asked = urllib.request.Request(url, body, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_a_server_in_a_thread_serves_other_threads(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    with running_server(Reply("from the thread", size=100), journal=journal) as server:
        _, answer = _post(server.url + "/v1/chat/completions")
        server.from_thread(server.wait_for_requests(1))
    assert b"from the thread" in answer
    entry = json.loads(journal.read_text().splitlines()[0])
    assert (entry["type"], entry["wire"]) == ("request", "openai")


async def test_a_server_process_prints_its_address_and_keeps_a_journal(tmp_path: Path) -> None:
    script, journal = tmp_path / "script.json", tmp_path / "journal.jsonl"
    steps = ["first", {"failure": {"status": 429}}, {"chaos": "sse-comment"}, {"reset": {}}]
    script.write_text(json.dumps([*steps, {"reply": {"calls": [{"name": "Read"}]}}]))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.kit.model_server"),
        *("--script", str(script), "--journal", str(journal)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    url = (await process.stdout.readline()).decode().strip()
    answers = [await asyncio.to_thread(_post, url + "/v1/chat/completions") for _ in range(3)]
    process.send_signal(signal.SIGTERM)
    assert await process.wait() == 0
    assert b"first" in answers[0][1]
    assert answers[1][0] == 429
    assert b": ping" in answers[2][1]
    assert len(journal.read_text().splitlines()) == 3
