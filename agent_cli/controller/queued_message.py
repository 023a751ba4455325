"""What the user submits, and what kind of thing it asks for."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["prompt", "shell", "command"]


def kind_of(text: str) -> Kind:
    """What a text asks for, by its first character."""
    match text[:1]:
        case "!":
            return "shell"
        case "/":
            return "command"
        case _:
            return "prompt"


@dataclass(frozen=True)
class QueuedMessage:
    """What was submitted while the agent was working."""

    text: str
    kind: Kind
