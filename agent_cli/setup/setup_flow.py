"""The questions of the setup, in order; each frontend asks them its own way."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent_cli.lib.language import tr
from agent_cli.models.guide import NAME as GUIDE
from agent_cli.models.providers import Provider, provider_of
from agent_cli.setup.findings import Findings
from agent_cli.setup.model_choice import ModelChoice
from agent_cli.setup.setup_service import SetupService, TrialResult


@dataclass(frozen=True)
class Option:
    """Something to choose."""

    id: str
    label: str
    detail: str = ""


class SetupDialog(Protocol):
    """How the user is asked. None means they go back or leave."""

    async def choose(
        self, heading: str, options: Sequence[Option], *, other: str = ""
    ) -> str | None:
        """The id of an option, or, where `other` says what it would be, what was typed."""

    async def ask_line(self, heading: str) -> str | None:
        """A line of text."""

    async def ask_secret(self, heading: str) -> str | None:
        """A line that is not shown."""

    async def confirm(self, question: str) -> bool:
        """Yes or no; no is what Enter says."""

    def say(self, text: str, *, passing: bool = False) -> None:
        """Show a message; `passing`: only until the next message or question."""


_LOOK_AROUND = "guide"


async def set_up(service: SetupService, dialog: SetupDialog) -> ModelChoice | None:
    """Ask until there is a choice, and save it; None: the user left."""
    while True:
        dialog.say(tr("Looking for API keys and local models …"), passing=True)
        findings = await service.look()
        options = list(_start(service, findings))
        picked = await dialog.choose(tr("Which model do you want to use?"), options)
        if picked is None:
            return None
        if picked == _LOOK_AROUND:
            return ModelChoice(GUIDE)
        choice = await _choose(picked, service, dialog, findings)
        if choice is not None and await _try_and_keep(choice, service, dialog):
            return choice


def _start(service: SetupService, findings: Findings) -> Iterator[Option]:
    """What is there already comes first."""
    for number, server in enumerate(findings.servers):
        for name in server.names:
            where = tr("{server} on this machine", server=server.kind.title)
            yield Option(f"local {number} {name}", name, where)
    variables = {key.provider: key.variable for key in findings.keys}
    for provider, variable in variables.items():
        where = tr("key in {variable}", variable=variable)
        yield Option(f"provider {provider.prefix}", provider.title, where)
    for provider in service.providers:
        if provider not in variables:
            yield Option(f"provider {provider.prefix}", provider.title, tr("needs a key"))
    yield Option("name", tr("Another model"), tr("enter its LiteLLM name"))
    yield Option(
        _LOOK_AROUND, tr("Look around first"), tr("offline guide: no model, no key, no network")
    )


async def _choose(
    picked: str, service: SetupService, dialog: SetupDialog, findings: Findings
) -> ModelChoice | None:
    kind, _, rest = picked.partition(" ")
    if kind == "local":
        number, _, name = rest.partition(" ")
        server = findings.servers[int(number)]
        return ModelChoice(f"{server.kind.prefix}/{name}", server.api_base)
    if kind == "provider":
        return await _model_of(provider_of(f"{rest}/"), service, dialog)
    typed = await dialog.ask_line(tr("Model name, such as anthropic/claude-sonnet-4-5"))
    return ModelChoice(typed) if typed else None


async def _model_of(
    provider: Provider, service: SetupService, dialog: SetupDialog
) -> ModelChoice | None:
    dialog.say(tr("Loading {provider} models …", provider=provider.title), passing=True)
    offers = await service.offers(provider)
    options = [Option(offer.model, offer.model, offer.facts) for offer in offers]
    picked = await dialog.choose(
        tr("Which {provider} model?", provider=provider.title),
        options,
        other=tr("a name that starts with {prefix}/", prefix=provider.prefix),
    )
    if picked is None:
        return None
    return ModelChoice(f"{provider.prefix}/{picked.removeprefix(f'{provider.prefix}/')}")


async def _try_and_keep(choice: ModelChoice, service: SetupService, dialog: SetupDialog) -> bool:
    """Test the choice, with a key if it needs one, and save what works."""
    provider = provider_of(choice.model)
    key = ""
    if provider.key and choice.api_base is None and not service.has_key(provider):
        wanted = tr("Paste your {provider} API key", provider=provider.title)
        key = await dialog.ask_secret(wanted) or ""
        if not key:
            return False
    while True:
        dialog.say(tr("Testing {model} …", model=choice.model), passing=True)
        tried = await service.try_out(choice, key)
        if tried.works:
            dialog.say(
                tr("{model} works ({seconds:.1f} s).", model=choice.model, seconds=tried.seconds)
            )
            break
        dialog.say(_problem(tried, key))
        if tried.is_wrong_key and provider.key and not service.is_given(provider):
            wanted = tr("Paste your {provider} API key again", provider=provider.title)
            key = await dialog.ask_secret(wanted) or ""
            if not key:
                return False
        elif not await dialog.confirm(tr("Use {model} anyway?", model=choice.model)):
            return False
        else:
            break
    await _keep(choice, provider, key, service, dialog)
    return True


def _problem(tried: TrialResult, key: str) -> str:
    is_wrong_key = tried.is_wrong_key and key
    what = tr("The key was not accepted.") if is_wrong_key else tr("That didn't work.")
    return " ".join(part for part in (what, tried.problem, tried.hint) if part)


async def _keep(
    choice: ModelChoice, provider: Provider, key: str, service: SetupService, dialog: SetupDialog
) -> None:
    card = await service.probe(choice)
    if card is not None and card.warning:
        dialog.say(card.warning)
    try:
        if key:
            dialog.say(tr("Saved the key in {place}.", place=service.keep_key(provider, key)))
        service.keep_choice(choice)
        dialog.say(
            tr("`agent` now uses {model}. Run `agent setup` to change it.", model=choice.model)
        )
    except OSError as error:
        dialog.say(tr("Can't save it for next time: {reason}.", reason=error))
