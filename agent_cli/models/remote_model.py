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
from agent_cli.lib.language import mark, tr
from agent_cli.models.providers import provider_of
from agent_cli.models.reply_assembly import Assembler, encodable
from agent_cli.models.wire import request_messages, vendor_of
from agent_cli.models.worker_process import WorkerBroken, WorkerGone, WorkerProcess

_HINTS = {
    ModelErrorKind.PERMISSION: mark("The key is valid but may not use this model."),
    ModelErrorKind.QUOTA: mark("The account has no credit left, or its quota is used up."),
    ModelErrorKind.NOT_FOUND: mark("Check the model's name, or choose another with --model."),
    ModelErrorKind.RATE_LIMIT: mark("Try again later, or choose another model with --model."),
    ModelErrorKind.OVERFLOW: mark(
        "The conversation is too long for this model. Try /compact or /clear."
    ),
    ModelErrorKind.CONNECTION: mark("Check the network and api_base."),
    ModelErrorKind.TIMEOUT: mark("The provider is slow or stuck. Try again."),
    ModelErrorKind.SERVER: mark("The provider has a problem. Try again later."),
    ModelErrorKind.BAD_REPLY: mark(
        "Check api_base: what answers there is not the model's interface."
    ),
}


@dataclass(frozen=True)
class Endpoint:
    """Where and how a model is asked."""

    model: str
    api_base: str | None = None
    needs_no_key: bool = False
    """A server of one's own: LiteLLM wants some key nevertheless."""
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
        self.name = endpoint.model
        self._endpoint = endpoint
        self._worker = worker

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
            seconds = self._endpoint.idle_timeout
            said = tr(
                "{model} has been silent for {seconds:g} s.", model=self.name, seconds=seconds
            )
            hint = tr(_HINTS[ModelErrorKind.TIMEOUT])
            raise ModelError(said, kind=ModelErrorKind.TIMEOUT, hint=hint) from error
        except WorkerGone as error:
            said = tr("The request was lost: {reason}.", reason=error.args[0])
            raise ModelError(said, kind=ModelErrorKind.WORKER) from error
        except WorkerBroken as error:
            said = tr("LiteLLM cannot be loaded: {reason}.", reason=error.args[0])
            hint = tr("Reinstall agent.")
            raise ModelError(said, kind=ModelErrorKind.BAD_REQUEST, hint=hint) from error

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
            said = tr("The reply ended in the middle of a call.")
            raise ModelError(said, kind=ModelErrorKind.CONNECTION)
        usage = Usage(**answer["usage"], cost=answer["cost"])
        prices = self._endpoint.prices
        if usage.cost is None and prices and usage.input_tokens:
            usage = usage.model_copy(update={"cost": prices.cost(usage)})
        return Reply(assembler.message(), assembler.finish(answer["finish"]), usage)

    def _error(self, error: Mapping[str, Any]) -> ModelError:
        kind, model = ModelErrorKind(error["kind"]), self.name
        if where := error["where"]:
            model = tr("{model} at {where}", model=model, where=where)
        told = {name: error[name] for name in ("status", "retry_after")}
        return ModelError(f"{model}: {error['message']}", kind=kind, hint=self._hint(kind), **told)

    def _hint(self, kind: ModelErrorKind) -> str:
        if kind is ModelErrorKind.AUTHENTICATION:
            provider = provider_of(self.name)
            key = provider.key or f"{provider.prefix.upper()}_API_KEY"
            return tr(
                "Check the key: {provider} reads it from {key}. `agent setup` takes a new one.",
                provider=provider.title,
                key=key,
            )
        return tr(_HINTS.get(kind, ""))
