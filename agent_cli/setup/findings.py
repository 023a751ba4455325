"""What there is to work with, as data, and whether it leaves a choice."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent_cli.lib.language import tr
from agent_cli.models.providers import PROVIDERS, Provider
from agent_cli.setup.local_servers import ServerFound, find_servers
from agent_cli.setup.model_choice import ModelChoice


@dataclass(frozen=True)
class KeyFound:
    """A provider whose key is there."""

    provider: Provider
    variable: str
    """Where it is: the name of an environment variable."""


@dataclass(frozen=True)
class Findings:
    """Everything that could answer."""

    keys: tuple[KeyFound, ...] = ()
    servers: tuple[ServerFound, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a key nor a model on this machine."""
        return not self.keys and not any(server.names for server in self.servers)


@dataclass(frozen=True)
class Proposal:
    """The one thing to do, and why."""

    choice: ModelChoice
    because: str


async def look(environment: Mapping[str, str], stored: Mapping[str, str]) -> Findings:
    """Keys, and the servers of this machine; those are not asked where one key decides."""
    keys = keys_in({**stored, **environment})
    if propose(Findings(keys)) is not None:
        return Findings(keys)
    return Findings(keys, await find_servers(environment))


def keys_in(variables: Mapping[str, str]) -> tuple[KeyFound, ...]:
    """The providers that could be asked with these variables."""
    found = []
    for provider in PROVIDERS:
        given = [name for name in provider.signs if variables.get(name, "").strip()]
        if given:
            found.append(KeyFound(provider, given[0]))
    return tuple(found)


def propose(findings: Findings) -> Proposal | None:
    """The one clear choice: the only key, or without a key the only local model."""
    ready = [key for key in findings.keys if key.provider.suggested]
    if len(ready) == 1:
        (key,) = ready
        return Proposal(
            ModelChoice(key.provider.suggested), tr("{variable} is set", variable=key.variable)
        )
    models = [(server, model) for server in findings.servers for model in server.models]
    if findings.keys or len(models) != 1:
        return None
    ((server, model),) = models
    because = tr("{server} runs it on this machine", server=server.kind.title)
    return Proposal(ModelChoice(model, server.api_base), because)
