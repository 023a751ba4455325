"""Setup, the same for every frontend: look, list, test, save."""

import asyncio
import re
import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass

from agent_cli.config.user_directories import Directories
from agent_cli.core.errors import ModelError, ModelErrorKind
from agent_cli.core.messages import UserMessage
from agent_cli.core.model import ModelRequest, Reply
from agent_cli.lib.language import tr
from agent_cli.models.providers import PROVIDERS, Provider, provider_of, variables_for
from agent_cli.models.remote_model import Endpoint, RemoteModel
from agent_cli.models.worker_process import WorkerBroken, WorkerGone, WorkerProcess
from agent_cli.safety.redact import Redactor
from agent_cli.safety.sanitise import clean
from agent_cli.setup.cards import Card, CardFile
from agent_cli.setup.findings import Findings, keys_in
from agent_cli.setup.key_store import KeyStore
from agent_cli.setup.local_servers import find_servers
from agent_cli.setup.model_choice import ModelChoice, ModelChoiceFile
from agent_cli.setup.probe import probe

TIMEOUT_S = 30.0
"""Seconds a model has to answer when it is tried out."""
WRONG_KEY = frozenset({ModelErrorKind.AUTHENTICATION, ModelErrorKind.PERMISSION})
_WRONG_KEY = re.compile(r"api.?key.{0,20}(?:not valid|invalid|incorrect)", re.IGNORECASE)
"""Google answers 400, as to any bad request."""


@dataclass(frozen=True)
class ModelOffer:
    """A model that can be chosen."""

    model: str
    window: int | None = None
    input_price: float | None = None
    """Dollars per million tokens."""
    output_price: float | None = None

    @property
    def facts(self) -> str:
        """ "200k tokens, $3.00 in, $15.00 out"."""
        parts = [tr("{n:,}k tokens", n=self.window // 1000)] if self.window else []
        if (read := self.input_price) and (written := self.output_price):
            values = {"read": read, "written": written}
            parts.append(tr("${read:.2f} in, ${written:.2f} out per million", **values))
        return " · ".join(parts)


@dataclass(frozen=True)
class TrialResult:
    """What came of one small request."""

    works: bool
    problem: str = ""
    hint: str = ""
    is_wrong_key: bool = False
    seconds: float = 0.0


class SetupService:
    """Everything a set-up can do. `variables` are what the environment says of providers."""

    def __init__(
        self, places: Directories, variables: Mapping[str, str], worker: WorkerProcess | None = None
    ) -> None:
        self._variables = dict(variables)
        self._worker = worker or WorkerProcess()
        self._choices = ModelChoiceFile(places.state)
        self._keys = KeyStore(places.config)
        self._cards = CardFile(places.state)
        self._stored = self._keys.load()

    async def look(self) -> Findings:
        """All that is there, to choose from."""
        keys = keys_in({**self._stored, **self._variables})
        return Findings(keys, await find_servers(self._variables))

    @property
    def providers(self) -> tuple[Provider, ...]:
        """The providers a key can be pasted for."""
        return tuple(provider for provider in PROVIDERS if provider.key)

    def has_key(self, provider: Provider) -> bool:
        """Whether the provider can be asked already."""
        known = {**self._stored, **self._variables}
        return not provider.signs or any(known.get(name, "").strip() for name in provider.signs)

    def is_given(self, provider: Provider) -> bool:
        """Whether the environment has a key, which counts before any that is kept."""
        return any(self._variables.get(name, "").strip() for name in provider.signs)

    async def offers(self, provider: Provider) -> list[ModelOffer]:
        """A provider's models by LiteLLM's list, the suggested one first."""
        listed: list[ModelOffer] = []
        try:
            request = self._worker.request({"op": "list", "provider": provider.prefix})
            async with aclosing(request) as answers:
                told = (await anext(answers)).get("models", [])
            listed = [_offer(entry) for entry in told]
        except (WorkerGone, WorkerBroken):
            pass  # a name can still be typed
        first = [offer for offer in listed if offer.model == provider.suggested]
        if not first and provider.suggested:
            first = [ModelOffer(provider.suggested)]
        return [*first, *(offer for offer in listed if offer.model != provider.suggested)]

    async def try_out(self, choice: ModelChoice, key: str = "") -> TrialResult:
        """Send one small request, with the key that was pasted or with what is there."""
        provider = provider_of(choice.model)
        known = {**self._stored, **self._variables}
        if key and provider.key:
            known[provider.key] = key
        variables = variables_for(choice.model, known)
        self._worker.configure(variables)
        keyless = bool(choice.api_base) and not variables
        endpoint = Endpoint(choice.model, choice.api_base, keyless, idle_timeout=TIMEOUT_S)
        model = RemoteModel(endpoint, self._worker)
        started = time.monotonic()
        try:
            await _one_reply(model)
        except ModelError as error:
            text = clean(Redactor(variables).redact(error.message))
            wrong = error.kind in WRONG_KEY or bool(_WRONG_KEY.search(text))
            return TrialResult(works=False, problem=text, hint=error.hint, is_wrong_key=wrong)
        return TrialResult(works=True, seconds=time.monotonic() - started)

    def keep_key(self, provider: Provider, key: str) -> str:
        """Keep a key for the next start; says where. Raises OSError."""
        name = provider.key or ""
        self._stored[name] = key
        return self._keys.keep(name, key)

    def keep_choice(self, choice: ModelChoice) -> None:
        """Use this model from now on; raises OSError."""
        self._choices.keep(choice)

    async def probe(self, choice: ModelChoice) -> Card | None:
        """Find out what a local server does with the model, and remember it."""
        card = await asyncio.to_thread(probe, choice.model, choice.api_base)
        if card is not None:
            self._cards.keep(choice.model, choice.api_base, card)
        return card

    async def close(self) -> None:
        """End the model's process."""
        await self._worker.close()


async def _one_reply(model: RemoteModel) -> None:
    request = ModelRequest(
        system="Answer with the word ok.",
        messages=(UserMessage(content="Say ok."),),
        options={"max_tokens": 16},
    )
    async with aclosing(model.stream(request)) as events:  # type: ignore[type-var]
        async for event in events:
            if isinstance(event, Reply):
                return


def _offer(entry: Mapping[str, object]) -> ModelOffer:
    window, prices = entry.get("window"), (entry.get("input_price"), entry.get("output_price"))
    million = [price * 1_000_000 if isinstance(price, int | float) else None for price in prices]
    tokens = window if isinstance(window, int) else None
    return ModelOffer(str(entry.get("name", "")), tokens, *million)
