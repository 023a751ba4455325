"""Model servers on this machine: where they listen, and which models they have."""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent_cli.safety.sanitise import clean
from agent_cli.setup.local_http import ask, is_local

TIMEOUT_S = 0.5
"""Seconds a server has to answer; one that is not there refuses at once."""
PORTS = "AGENT_LOCAL_PORTS"
"""Ports instead of the usual ones: "ollama=11500,vllm=0"; 0 leaves a server out."""


@dataclass(frozen=True)
class ServerKind:
    """A program that serves models, and how it is talked to."""

    id: str
    title: str
    port: int
    prefix: str
    """Of its models' names for LiteLLM."""
    api: str
    """What LiteLLM's address has after the port."""
    models: Callable[[str], list[str] | None]
    """The models at an address; None if something else answers there, or nothing."""


@dataclass(frozen=True)
class ServerFound:
    """A server that answers."""

    kind: ServerKind
    address: str
    """http://127.0.0.1:11434"""
    names: tuple[str, ...]

    @property
    def api_base(self) -> str:
        """The address as LiteLLM wants it."""
        return f"{self.address}{self.kind.api}"

    @property
    def models(self) -> tuple[str, ...]:
        """The models as LiteLLM names them."""
        return tuple(f"{self.kind.prefix}/{name}" for name in self.names)


async def find_servers(environment: Mapping[str, str]) -> tuple[ServerFound, ...]:
    """The servers that answer on this machine, all asked at once."""
    places = list(addresses(environment))
    asked = [asyncio.to_thread(kind.models, address) for kind, address in places]
    answers = await asyncio.gather(*asked)
    return tuple(
        ServerFound(kind, address, tuple(names))
        for (kind, address), names in zip(places, answers, strict=True)
        if names is not None
    )


def addresses(environment: Mapping[str, str]) -> Iterator[tuple[ServerKind, str]]:
    """Where each kind would listen: `OLLAMA_HOST` counts as far as it names this machine."""
    given = dict(re.findall(r"(\w+)=(\d{1,5})", environment.get(PORTS, "")))
    for kind in KINDS:
        port = int(given.get(kind.id, kind.port))
        address = f"http://127.0.0.1:{port}"
        if kind.id == "ollama" and kind.id not in given:
            address = _ollama_address(environment.get("OLLAMA_HOST", "")) or address
        if 0 < port < 65_536:
            yield kind, address


def may_be_local(model: str, api_base: str | None) -> bool:
    """Whether a model could be served on this machine, by its name and address alone."""
    return bool(_candidates(model, api_base))


def kind_of(model: str, api_base: str | None) -> tuple[ServerKind, str] | None:
    """The kind and address of the server that serves a model on this machine."""
    for kind in _candidates(model, api_base):
        address = (api_base or f"http://127.0.0.1:{kind.port}").rstrip("/").removesuffix("/v1")
        if kind.models(address) is not None:
            return kind, address
    return None


def _candidates(model: str, api_base: str | None) -> list[ServerKind]:
    prefix = model.partition("/")[0].replace("ollama_chat", "ollama")
    if api_base is not None and not is_local(api_base):
        return []
    if prefix == "openai":
        return [kind for kind in KINDS if kind.api] if api_base else []
    return [kind for kind in KINDS if prefix == kind.prefix.replace("ollama_chat", "ollama")]


def _ollama_address(host: str) -> str | None:
    host = host.strip().rstrip("/")
    if not host:
        return None
    url = host if "://" in host else f"http://{host}"
    url = url.replace("0.0.0.0", "127.0.0.1")
    if not re.search(r":\d+$", url):
        url += ":11434"
    return url if url.startswith("http://") and is_local(url) else None


def _ollama(address: str) -> list[str] | None:
    return _names(ask(address, "/api/tags", timeout=TIMEOUT_S), "models", "name")


def _lm_studio(address: str) -> list[str] | None:
    told = ask(address, "/api/v0/models", timeout=TIMEOUT_S)
    return _names(told, "data", "id", lambda entry: entry.get("type") in ("llm", "vlm"))


def _llama_cpp(address: str) -> list[str] | None:
    props = ask(address, "/props", timeout=TIMEOUT_S)
    if not isinstance(props, dict) or "default_generation_settings" not in props:
        return None
    return _names(ask(address, "/v1/models", timeout=TIMEOUT_S), "data", "id")


def _vllm(address: str) -> list[str] | None:
    told = ask(address, "/v1/models", timeout=TIMEOUT_S)
    if not isinstance(told, dict) or not isinstance(told.get("data"), list):
        return None
    own = [entry for entry in told["data"] if isinstance(entry, dict) and "max_model_len" in entry]
    return _names({"data": own}, "data", "id") if own else None


def _names(
    told: Any, table: str, field: str, fits: Callable[[dict[str, Any]], bool] = bool
) -> list[str] | None:
    """Names that can be shown and sent; a server's word is not trusted with more."""
    if not isinstance(told, dict) or not isinstance(told.get(table), list):
        return None
    names = [entry.get(field) for entry in told[table] if isinstance(entry, dict) and fits(entry)]
    return [
        name
        for name in names
        if isinstance(name, str)
        and 0 < len(name) < 200
        and name == clean(name)
        and not re.search(r"\s|embed", name)
    ]


KINDS = (
    ServerKind("ollama", "Ollama", 11434, "ollama_chat", "", _ollama),
    ServerKind("lm_studio", "LM Studio", 1234, "lm_studio", "/v1", _lm_studio),
    # Its models are named as vLLM's: "openai/" would send a key for OpenAI to port 8080.
    ServerKind("llama_cpp", "llama.cpp", 8080, "hosted_vllm", "/v1", _llama_cpp),
    ServerKind("vllm", "vLLM", 8000, "hosted_vllm", "/v1", _vllm),
)
