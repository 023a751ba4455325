"""The questions of a set-up, in their order; who asks them is a frontend's business."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent_cli.lib.language import tr
from agent_cli.models.guide import NAME as GUIDE
from agent_cli.models.providers import Provider, provider_of
from agent_cli.setup.choice import Choice
from agent_cli.setup.desk import SetupDesk, Tried
from agent_cli.setup.findings import Findings


@dataclass(frozen=True)
class Option:
    """Something to choose."""

    id: str
    label: str
    detail: str = ""


class Talk(Protocol):
    """How a person is asked. None means that they go back or leave."""

    async def choose(
        self, heading: str, options: Sequence[Option], *, other: str = ""
    ) -> str | None:
        """The id of an option, or, where `other` says what it would be, what was typed."""
        ...

    async def ask_line(self, heading: str) -> str | None:
        """A line of text."""
        ...

    async def ask_secret(self, heading: str) -> str | None:
        """A line that nobody else shall see."""
        ...

    async def confirm(self, question: str) -> bool:
        """Yes or no; no is what Enter says."""
        ...

    def say(self, text: str, *, passing: bool = False) -> None:
        """Tell how things stand; `passing`: only until there is something else to say or ask."""
        ...


_LOOK_AROUND = "guide"


async def set_up(desk: SetupDesk, talk: Talk) -> Choice | None:
    """Ask until there is a choice, and keep it; None: the person left."""
    while True:
        talk.say(tr("Looking for keys and for models on this machine …"), passing=True)
        findings = await desk.look()
        picked = await talk.choose(tr("Which model shall answer?"), list(_start(desk, findings)))
        if picked is None:
            return None
        if picked == _LOOK_AROUND:
            return Choice(GUIDE)
        choice = await _chosen(picked, desk, talk, findings)
        if choice is not None and await _settled(choice, desk, talk):
            return choice


def _start(desk: SetupDesk, findings: Findings) -> Iterator[Option]:
    """What is there already comes first."""
    for number, server in enumerate(findings.servers):
        for name in server.names:
            where = tr("{server} on this machine", server=server.kind.title)
            yield Option(f"local {number} {name}", name, where)
    variables = {key.provider: key.variable for key in findings.keys}
    for provider, variable in variables.items():
        where = tr("key in {variable}", variable=variable)
        yield Option(f"provider {provider.prefix}", provider.title, where)
    for provider in desk.providers:
        if provider not in variables:
            yield Option(f"provider {provider.prefix}", provider.title, tr("needs a key"))
    yield Option("name", tr("Another model"), tr("by the name LiteLLM knows it by"))
    yield Option(
        _LOOK_AROUND,
        tr("Look around first"),
        tr("the offline guide: rules instead of a model, no key, no network"),
    )


async def _chosen(picked: str, desk: SetupDesk, talk: Talk, findings: Findings) -> Choice | None:
    kind, _, rest = picked.partition(" ")
    if kind == "local":
        number, _, name = rest.partition(" ")
        server = findings.servers[int(number)]
        return Choice(f"{server.kind.prefix}/{name}", server.api_base)
    if kind == "provider":
        return await _model_of(provider_of(f"{rest}/"), desk, talk)
    typed = await talk.ask_line(tr("The model's name, such as anthropic/claude-sonnet-4-5"))
    return Choice(typed) if typed else None


async def _model_of(provider: Provider, desk: SetupDesk, talk: Talk) -> Choice | None:
    loading = tr("Loading the list of {provider}'s models …", provider=provider.title)
    talk.say(loading, passing=True)
    offers = await desk.offers(provider)
    options = [Option(offer.model, offer.model, offer.facts) for offer in offers]
    picked = await talk.choose(
        tr("Which model of {provider}?", provider=provider.title),
        options,
        other=tr("a name beginning with {prefix}/", prefix=provider.prefix),
    )
    if picked is None:
        return None
    return Choice(
        picked if picked.startswith(f"{provider.prefix}/") else f"{provider.prefix}/{picked}"
    )


async def _settled(choice: Choice, desk: SetupDesk, talk: Talk) -> bool:
    """Try the choice out, with a key if it needs one, and keep what works."""
    provider = provider_of(choice.model)
    key = ""
    if provider.key and choice.api_base is None and not desk.has_key(provider):
        wanted = tr("Paste your key for {provider}", provider=provider.title)
        key = await talk.ask_secret(wanted) or ""
        if not key:
            return False
    while True:
        sending = tr("Sending one small request to {model} …", model=choice.model)
        talk.say(sending, passing=True)
        tried = await desk.try_out(choice, key)
        if tried.works:
            talk.say(
                tr(
                    "{model} answers ({seconds:.1f} s).",
                    model=choice.model,
                    seconds=tried.seconds,
                )
            )
            break
        talk.say(_problem(tried, key))
        if tried.is_wrong_key and provider.key and not desk.is_given(provider):
            wanted = tr("Paste the key for {provider} again", provider=provider.title)
            key = await talk.ask_secret(wanted) or ""
            if not key:
                return False
        elif not await talk.confirm(tr("Use {model} all the same?", model=choice.model)):
            return False
        else:
            break
    await _keep(choice, provider, key, desk, talk)
    return True


def _problem(tried: Tried, key: str) -> str:
    is_wrong_key = tried.is_wrong_key and key
    what = tr("The key was not accepted.") if is_wrong_key else tr("That did not work.")
    return " ".join(part for part in (what, tried.problem, tried.hint) if part)


async def _keep(choice: Choice, provider: Provider, key: str, desk: SetupDesk, talk: Talk) -> None:
    card = await desk.probe(choice)
    if card is not None and card.warning:
        talk.say(card.warning)
    try:
        if key:
            talk.say(tr("The key is kept in {place}.", place=desk.keep_key(provider, key)))
        desk.keep_choice(choice)
        talk.say(
            tr(
                "From now on `agent` starts with {model}. `agent setup` changes that.",
                model=choice.model,
            )
        )
    except OSError as error:
        talk.say(tr("It cannot be kept for the next start: {reason}.", reason=error))
