"""Where a model comes from, by its name."""

from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_cli.core.errors import UserError
from agent_cli.core.model import Model, ModelFacts, Prices
from agent_cli.lib.language import tr
from agent_cli.models.guide import NAME as GUIDE
from agent_cli.models.guide.greeting import maker
from agent_cli.models.prompted import PromptedTools
from agent_cli.models.providers import (
    SCRIPTED,
    is_local,
    provider_of,
    unknown_prefix,
    variables_for,
)
from agent_cli.models.remote_model import Endpoint, RemoteModel
from agent_cli.models.scripted import ScriptedModel
from agent_cli.models.worker_process import WorkerBroken, WorkerGone, WorkerProcess


class ModelSource:
    """Makes models and keeps them: the same name is the same model throughout a session."""

    def __init__(
        self,
        credentials: Mapping[str, str],
        endpoints: Mapping[str, Endpoint],
        worker: WorkerProcess,
        *,
        prompted: Mapping[str, bool] | None = None,
        guide: Callable[[], Model] | None = None,
    ) -> None:
        self._credentials = credentials
        self._endpoints = endpoints
        self._prompted = prompted or {}
        self._worker = worker
        self._models: dict[str, Model] = {}
        self._guide = guide or maker(None, is_paced=True)

    def get(self, name: str) -> Model:
        """The model of this name; raises UserError if there can be none."""
        if name not in self._models:
            self._models[name] = self._make(name)
        return self._models[name]

    async def warm(self, name: str) -> None:
        """Load ahead of time what the first request to this model will need."""
        self.get(name)
        if not is_local(name):
            await self._worker.prime(name)

    async def describe(self, name: str) -> ModelFacts:
        """What the configuration or LiteLLM's list knows of the model."""
        endpoint = self._endpoints.get(name) or Endpoint(name)
        if name == GUIDE:
            return ModelFacts(prices=Prices(0.0, 0.0))
        own = ModelFacts(window=endpoint.window, prices=endpoint.prices)
        self.get(name)
        if is_local(name) or (own.window and own.prices):
            return own
        try:
            request = self._worker.request({"op": "describe", "model": name})
            async with aclosing(request) as answers:
                listed = _read_listed_facts(await anext(answers))
        except (WorkerGone, WorkerBroken):
            return own  # the next request will say what is wrong
        return ModelFacts(window=own.window or listed.window, prices=listed.prices or own.prices)

    async def close(self) -> None:
        """End the worker."""
        await self._worker.close()

    def _make(self, name: str) -> Model:
        if name == GUIDE:
            return self._guide()
        if name.startswith(SCRIPTED):
            return ScriptedModel.from_file(Path(name.removeprefix(SCRIPTED)))
        endpoint = self._endpoints.get(name) or Endpoint(name)
        if is_local(name):
            raise _unknown(tr("Unknown model: {model}", model=name))
        if (prefix := unknown_prefix(name)) and not endpoint.api_base:
            raise _unknown(tr("Unknown model prefix: {prefix}", prefix=prefix))
        variables = variables_for(name, self._credentials)
        provider = provider_of(name)
        if provider.key and not endpoint.api_base and not any("KEY" in v for v in variables):
            said = tr("{model} needs a key for {provider}.", provider=provider.title, model=name)
            key = provider.key
            hint = tr(
                "Set {key}, run `agent setup`, or choose another model with --model.", key=key
            )
            raise UserError(said, hint=hint)
        self._worker.configure(variables)
        if endpoint.api_base and not variables:
            endpoint = replace(endpoint, needs_no_key=True)
        model = RemoteModel(endpoint, self._worker)
        prompted = self._prompted.get(name)
        if prompted is None and provider.calls_tools and not endpoint.api_base:
            prompted = False
        return model if prompted is False else PromptedTools(model, prompted=bool(prompted))


def _unknown(said: str) -> UserError:
    hint = tr(
        "Model names look like anthropic/claude-sonnet-4-5, ollama_chat/qwen3 or {guide}.",
        guide=GUIDE,
    )
    return UserError(said, hint=hint)


def _read_listed_facts(known: Mapping[str, Any]) -> ModelFacts:
    """What LiteLLM's list says; a price of nothing means that it does not know."""
    window, cached = known.get("window"), known.get("cached_price")
    paid, got = known.get("input_price") or 0.0, known.get("output_price") or 0.0
    prices = Prices(float(paid), float(got), None if cached is None else float(cached))
    return ModelFacts(
        window=window if isinstance(window, int) and window > 0 else None,
        prices=prices if paid or got else None,
    )
