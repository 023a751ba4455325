"""Capability cards: what a local server was found to do with a model, kept for later starts."""

import contextlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from agent_cli.lib.files import read_json_object, write_private_json

MAX_BYTES = 1_000_000


@dataclass(frozen=True)
class Card:
    """What is known of a model on a server; None: not known."""

    window: int | None = None
    """Tokens the server really reads of a request."""
    native_tools: bool | None = None
    takes_images: bool | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """Sent with each request, so that the server does what the card says."""
    warning: str = ""


class CardFile:
    """Cards by model and address, in the user's state."""

    def __init__(self, state: Path) -> None:
        self._path = state / "cards.json"

    def get(self, model: str, api_base: str | None) -> Card | None:
        """The card of a model, if it was probed."""
        held = read_json_object(self._path, MAX_BYTES).get(_key(model, api_base))
        return _card(held) if isinstance(held, dict) else None

    def keep(self, model: str, api_base: str | None, card: Card) -> None:
        """Remember a card; doing without one is no failure."""
        held = read_json_object(self._path, MAX_BYTES)
        with contextlib.suppress(OSError):
            write_private_json(self._path, {**held, _key(model, api_base): asdict(card)})


def _key(model: str, api_base: str | None) -> str:
    return f"{model} {(api_base or '').rstrip('/')}".strip()


def _card(held: dict[str, Any]) -> Card:
    window, options = held.get("window"), held.get("options")
    flags = {
        name: held[name] if isinstance(held.get(name), bool) else None
        for name in ("native_tools", "takes_images")
    }
    return Card(
        window=window if isinstance(window, int) and window > 0 else None,
        options=options if isinstance(options, dict) else {},
        warning=str(held.get("warning", "")),
        **flags,
    )
