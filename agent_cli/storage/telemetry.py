"""Spans of turns, model requests and tool calls, sent by OpenTelemetry to whoever collects them.

Names and numbers only: never what was said, what a call was given or what it gave. This is the only
module that imports OpenTelemetry, and it is imported only when an address is configured.
"""

import logging
import re
import threading
import time

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context

from agent_cli import __version__
from agent_cli.core.events import (
    Event,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    UsageChanged,
)

SEND_TIMEOUT_S = 3.0
"""What is not sent within this when the program ends is lost."""
_ENDED_WELL = frozenset({"done", "interrupted"})
_NAME = re.compile(r"[\w.-]{1,64}")


class Telemetry:
    """Watches one session."""

    def __init__(self, endpoint: str) -> None:
        _keep_quiet()
        resource = Resource.create({"service.name": "agent", "service.version": __version__})
        self._provider = TracerProvider(resource=resource)
        exporter = OTLPSpanExporter(endpoint=endpoint, timeout=SEND_TIMEOUT_S)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("agent_cli", __version__)
        self._turn: Span | None = None
        self._calls: dict[str, Span] = {}
        self._idle_since = time.time_ns()
        """Since when, at the latest, a model has been asked."""

    def see(self, event: Event) -> None:
        """Begin and end spans as events come."""
        match event:
            case TurnStarted():
                self._turn = self._begin_turn(event)
            case UsageChanged():
                self._request(event)
            case ToolStarted():
                self._calls[event.call_id] = self._begin_call(event)
            case ToolFinished():
                self._end_call(event)
            case TurnFinished():
                self._end_turn(event)
            case _:
                return
        self._idle_since = time.time_ns()

    def close(self) -> None:
        """Send what waits, within a few seconds whatever the other side does."""
        sending = threading.Thread(target=self._provider.shutdown, name="telemetry", daemon=True)
        sending.start()
        sending.join(SEND_TIMEOUT_S)

    def _begin_turn(self, event: TurnStarted) -> Span:
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "agent",
            "gen_ai.conversation.id": event.session_id,
            "gen_ai.request.model": event.model,
        }
        return self._tracer.start_span("invoke_agent agent", attributes=attributes)

    def _request(self, event: UsageChanged) -> None:
        """A request is told of when it is over; it began when nothing else went on any more."""
        used = event.step
        attributes: dict[str, str | float] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": event.model,
            "gen_ai.usage.input_tokens": used.input_tokens,
            "gen_ai.usage.output_tokens": used.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": used.cached_tokens,
            "gen_ai.usage.cache_creation.input_tokens": used.cache_write_tokens,
        }
        if used.cost is not None:
            attributes["agent.cost_usd"] = used.cost
        context, name = self._inside(self._turn), f"chat {event.model}"
        start = self._idle_since
        self._tracer.start_span(name, context, SpanKind.CLIENT, attributes, start_time=start).end()

    def _begin_call(self, event: ToolStarted) -> Span:
        name = event.tool if _NAME.fullmatch(event.tool) else "unknown"
        context = self._inside(self._calls.get(event.parent_id or ""))
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": event.call_id[:128],
        }
        return self._tracer.start_span(f"execute_tool {name}", context, attributes=attributes)

    def _end_call(self, event: ToolFinished) -> None:
        span = self._calls.pop(event.call_id, None)
        if span is None:
            return
        if not event.result.success:
            error = event.result.error
            span.set_attribute("error.type", error.type.value if error else "unknown")
            span.set_status(Status(StatusCode.ERROR))
        span.end()

    def _end_turn(self, event: TurnFinished) -> None:
        for span in (*self._calls.values(), self._turn):
            if span is None:
                continue
            span.set_attribute("agent.finish_reason", event.reason)
            if event.reason not in _ENDED_WELL:
                span.set_attribute("error.type", event.reason)
                span.set_status(Status(StatusCode.ERROR))
            span.end()
        self._calls.clear()
        self._turn = None

    def _inside(self, parent: Span | None) -> Context | None:
        above = parent or self._turn
        return set_span_in_context(above) if above is not None else None


def _keep_quiet() -> None:
    """A collector that is away is no news for the screen."""
    logger = logging.getLogger("opentelemetry")
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
