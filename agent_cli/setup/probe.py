"""Asks a local server what it really does with a model: window, tool calls, images."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agent_cli.lib.language import tr
from agent_cli.setup.cards import Card
from agent_cli.setup.local_http import ask
from agent_cli.setup.local_servers import kind_of

TIMEOUT_S = 3.0
"""Seconds for one question; a server may have to look at a model's file first."""
OLLAMA_DEFAULT = 4_096
"""Tokens Ollama reads when nobody says otherwise; the rest it drops without a word."""
WANTED = 32_768
"""Tokens we ask Ollama to read: enough to work with, and little memory."""


def probe(model: str, api_base: str | None) -> Card | None:
    """The card of a model on this machine; None if it is elsewhere or nothing answers."""
    found = kind_of(model, api_base)
    if found is None:
        return None
    kind, address = found
    return _PROBES[kind.id](address, model.partition("/")[2])


def _ollama(address: str, name: str) -> Card:
    told = _table(ask(address, "/api/show", timeout=TIMEOUT_S, body={"model": name}))
    abilities = told.get("capabilities")
    known = set(abilities) if isinstance(abilities, list) else None
    trained = _number(
        value for key, value in _table(told.get("model_info")).items()
        if key.endswith(".context_length")
    )  # fmt: skip
    configured = re.search(r"^num_ctx\s+(\d+)", str(told.get("parameters", "")), re.MULTILINE)
    card = Card(
        window=int(configured[1]) if configured else None,
        native_tools=None if known is None else "tools" in known,
        takes_images=None if known is None else "vision" in known,
    )
    if configured:
        return card
    # A window of our own, because Ollama's default one cuts silently.
    window = min(trained or WANTED, WANTED)
    warning = _warn_about_window(name, window, trained)
    return replace(card, window=window, options={"num_ctx": window}, warning=warning)


def _warn_about_window(name: str, window: int, trained: int | None) -> str:
    most = ""
    if trained and trained > window:
        most = tr(" The model itself supports {trained:,}.", trained=trained)
    return tr(
        "By default Ollama reads only about {default:,} tokens of a request to {name} and silently "
        "drops the rest, so each request asks for {window:,}.{most} To change this, set "
        'options.num_ctx in [models."ollama_chat/{name}"]; more tokens need more memory.',
        default=OLLAMA_DEFAULT,
        name=name,
        window=window,
        most=most,
    )


def _lm_studio(address: str, name: str) -> Card:
    entry = _entry(ask(address, "/api/v0/models", timeout=TIMEOUT_S), name)
    abilities = entry.get("capabilities")
    loaded = _number([entry.get("loaded_context_length")])
    most = _number([entry.get("max_context_length")])
    warning = ""
    if loaded and most and loaded < most:
        values = {"name": name, "loaded": loaded, "most": most}
        warning = tr(
            "LM Studio loaded {name} with a context of {loaded:,} of {most:,} tokens. "
            "For long conversations, load it with a longer context.",
            **values,
        )
    return Card(
        window=loaded or most,
        native_tools="tool_use" in abilities if isinstance(abilities, list) else None,
        takes_images=entry["type"] == "vlm" if "type" in entry else None,
        warning=warning,
    )


def _llama_cpp(address: str, name: str) -> Card:
    props = _table(ask(address, "/props", timeout=TIMEOUT_S))
    settings = _table(props.get("default_generation_settings"))
    able = _table(props.get("chat_template_caps")).get("supports_tools")
    sees = _table(props.get("modalities")).get("vision")
    return Card(
        window=_number([settings.get("n_ctx"), props.get("n_ctx")]),
        native_tools=able if isinstance(able, bool) else None,
        takes_images=sees if isinstance(sees, bool) else None,
    )


def _vllm(address: str, name: str) -> Card:
    entry = _entry(ask(address, "/v1/models", timeout=TIMEOUT_S), name)
    return Card(window=_number([entry.get("max_model_len")]))


def _entry(told: Any, name: str) -> dict[str, Any]:
    listed = _table(told).get("data")
    entries = map(_table, listed if isinstance(listed, list) else [])
    return next((entry for entry in entries if entry.get("id") == name), {})


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(values: Any) -> int | None:
    return next((value for value in values if type(value) is int and value > 0), None)


_PROBES: dict[str, Callable[[str, str], Card]] = {
    "ollama": _ollama,
    "lm_studio": _lm_studio,
    "llama_cpp": _llama_cpp,
    "vllm": _vllm,
}
