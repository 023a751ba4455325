"""Any model that LiteLLM knows, reached through the worker process."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from agent_cli.core.errors import ModelError, ModelErrorKind
from agent_cli.core.model import (
    ModelEvent,
    ModelRequest,
    Prices,
    Reply,
    TextChunk,
    ThinkingChunk,
    Usage,
)
from agent_cli.models.assembly import Assembler, encodable
from agent_cli.models.providers import provider_of
from agent_cli.models.wire import request_messages, vendor_of
from agent_cli.models.worker_process import WorkerBroken, WorkerGone, WorkerProcess

_HINTS = {
    ModelErrorKind.PERMISSION: "The key is valid but may not use this model.",
    ModelErrorKind.QUOTA: "The account has no credit left, or its quota is used up.",
    ModelErrorKind.NOT_FOUND: "Check the model's name, or choose another with --model.",
    ModelErrorKind.RATE_LIMIT: "Try again later, or choose another model with --model.",
    ModelErrorKind.OVERFLOW: "It is longer than the model can read: /compact it, or start anew.",
    ModelErrorKind.CONNECTION: "Check the network and api_base.",
    ModelErrorKind.TIMEOUT: "The provider is slow or stuck. Try again.",
    ModelErrorKind.SERVER: "The provider has a fault. Try again later.",
    ModelErrorKind.BAD_REPLY: "Check api_base: what answers there is not the model's interface.",
}


@dataclass(frozen=True)
class Endpoint:
    """Where and how a model is asked."""

    model: str
    api_base: str | None = None
    needs_no_key: bool = False
    """A server of one's own: LiteLLM wants some key all the same."""
    idle_timeout: float = 300.0
    """Seconds of silence after which a request is given up."""
    input_price: float | None = None
    """Dollars per million tokens, where LiteLLM's list does not know."""
    output_price: float | None = None
    cached_price: float | None = None
    window: int | None = None
    """Tokens a request may have, where LiteLLM's list does not know."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Sent with each request unless the request says otherwise."""

    @property
    def prices(self) -> Prices | None:
        """The configured prices, if there are both."""
        if self.input_price is None or self.output_price is None:
            return None
        cached = None if self.cached_price is None else self.cached_price / 1_000_000
        return Prices(self.input_price / 1_000_000, self.output_price / 1_000_000, cached)


class RemoteModel:
    """A model at a provider."""

    def __init__(self, endpoint: Endpoint, worker: WorkerProcess) -> None:
        self._endpoint = endpoint
        self._worker = worker

    @property
    def name(self) -> str:
        """The model's name."""
        return self._endpoint.model

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Ask, and pass on what comes."""
        assembler = Assembler(self.name, vendor_of(self.name))
        message = {"op": "complete", "request": self._arguments(request)}
        try:
            async with aclosing(self._worker.request(message)) as answers:
                while True:
                    async with asyncio.timeout(self._endpoint.idle_timeout):
                        answer = await anext(answers)
                    if answer["op"] == "done":
                        yield self._reply(assembler, answer)
                        return
                    if answer["op"] == "failed":
                        raise self._error(answer["error"])
                    assembler.add(answer)
                    if thinking := answer.get("thinking"):
                        yield ThinkingChunk(encodable(thinking))
                    if text := answer.get("text"):
                        yield TextChunk(encodable(text))
        except TimeoutError as error:
            raise ModelError(
                f"{self.name} has been silent for {self._endpoint.idle_timeout:g} s.",
                kind=ModelErrorKind.TIMEOUT,
                hint=_HINTS[ModelErrorKind.TIMEOUT],
            ) from error
        except WorkerGone as error:
            raise ModelError(
                f"The request was lost: {error}.", kind=ModelErrorKind.WORKER
            ) from error
        except WorkerBroken as error:
            raise ModelError(
                f"LiteLLM cannot be loaded: {error}.",
                kind=ModelErrorKind.BAD_REQUEST,
                hint="Install the program anew.",
            ) from error

    def _arguments(self, request: ModelRequest) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self.name,
            "messages": request_messages(request.system, request.messages, self.name),
            **self._endpoint.options,
            **request.options,
        }
        if request.tools:
            arguments["tools"] = list(request.tools)
        if self._endpoint.api_base:
            arguments["api_base"] = self._endpoint.api_base
        if self._endpoint.needs_no_key:
            arguments["api_key"] = "none"
        return arguments

    def _reply(self, assembler: Assembler, answer: Mapping[str, Any]) -> Reply:
        if assembler.has_calls and answer["finish"] is None:
            raise ModelError(
                "The reply ended in the middle of a call.", kind=ModelErrorKind.CONNECTION
            )
        usage = Usage(**answer["usage"], cost=answer["cost"])
        if usage.cost is None:
            usage = usage.model_copy(update={"cost": self._configured_cost(usage)})
        return Reply(assembler.message(), assembler.finish(answer["finish"]), usage)

    def _configured_cost(self, usage: Usage) -> float | None:
        prices = self._endpoint.prices
        return prices.cost(usage) if prices and usage.input_tokens else None

    def _error(self, error: Mapping[str, Any]) -> ModelError:
        kind = ModelErrorKind(error["kind"])
        where = f" at {error['where']}" if error["where"] else ""
        text = f"{self.name}{where}: {error['message']}"
        return ModelError(
            text,
            kind=kind,
            hint=self._hint(kind),
            status=error["status"],
            retry_after=error["retry_after"],
        )

    def _hint(self, kind: ModelErrorKind) -> str:
        if kind is ModelErrorKind.AUTHENTICATION:
            provider = provider_of(self.name)
            key = provider.key or f"{provider.prefix.upper()}_API_KEY"
            return (
                f"Check the key: {provider.title} reads it from {key}. "
                "`agent setup` takes a new one."
            )
        return _HINTS.get(kind, "")
