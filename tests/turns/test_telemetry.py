"""Spans as a real collector receives them over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.kit.sessions import SceneMaker, finish

SECRET = "sk-proj-0123456789abcdefghijABCDEFGHIJ"


@dataclass
class Collector:
    """Keeps what it is sent."""

    url: str = ""
    bodies: list[bytes] = field(default_factory=list)

    @property
    def spans(self) -> list[Any]:
        found = []
        for body in self.bodies:
            request = ExportTraceServiceRequest.FromString(body)
            for resource in request.resource_spans:
                for scope in resource.scope_spans:
                    found.extend(scope.spans)
        return found


@pytest.fixture
async def collector() -> AsyncIterator[Collector]:
    collector = Collector()

    async def receive(request: web.Request) -> web.Response:
        collector.bodies.append(await request.read())
        return web.Response(status=200)

    app = web.Application()
    app.router.add_post("/v1/traces", receive)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    collector.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1/traces"
    yield collector
    await runner.cleanup()


def attributes(span: Any) -> dict[str, Any]:
    return {
        each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes
    }


async def test_turns_requests_and_calls_are_spans_without_contents(
    make_session: SceneMaker, collector: Collector
) -> None:
    read = {"calls": [{"name": "Read", "arguments": {"file_path": "private-name"}}]}
    scene = make_session(
        {**read, "usage": {"input_tokens": 90, "output_tokens": 7, "cost": 0.5}},
        {"calls": [{"name": f"No tool {SECRET}"}]},
        {"text": "private answer"},
        files={"private-name": "private contents"},
        settings={"telemetry": {"endpoint": collector.url}},
    )
    assert finish(await scene.play("private prompt")).reason == "done"
    await scene.session.close()
    spans = {span.name: span for span in collector.spans}
    turn, request, call = (
        spans["invoke_agent agent"], spans["chat scripted"], spans["execute_tool Read"],
    )  # fmt: skip
    assert attributes(turn)["gen_ai.conversation.id"] == scene.session.id
    assert {request.parent_span_id, call.parent_span_id} == {turn.span_id}
    asked = [attributes(s) for s in collector.spans if s.name == "chat scripted"]
    assert {"gen_ai.usage.input_tokens": 90, "agent.cost_usd": 0.5}.items() <= asked[0].items()
    assert attributes(call)["gen_ai.tool.name"] == "Read"
    assert attributes(spans["execute_tool unknown"])["error.type"] == "validation"
    assert call.start_time_unix_nano <= call.end_time_unix_nano <= turn.end_time_unix_nano
    sent = b"".join(collector.bodies)
    assert b"private" not in sent
    assert SECRET.encode() not in sent


async def test_a_collector_that_is_away_holds_nobody_up(make_session: SceneMaker) -> None:
    scene = make_session(
        {"text": "ok"}, settings={"telemetry": {"endpoint": "http://127.0.0.1:9/v1/traces"}}
    )
    assert finish(await scene.play()).text == "ok"
    async with asyncio.timeout(30):
        await scene.session.close()
