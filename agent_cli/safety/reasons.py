"""Why something was decided, or what would come of it: data, put into words where it is read.

    because("outside_workspace", path="/etc/hosts")   a reason: a stable code and its values
    reason.english()                                  for a model, a log, a hook, JSON
    in_words(reason)                                  for the user, in their language

The English of every code is in reason_texts.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from agent_cli.lib.language import tr, trn
from agent_cli.safety.reason_texts import TEXTS


@dataclass(frozen=True)
class Reason:
    """A stable code with the values that its text needs; values may be reasons themselves."""

    code: str
    values: dict[str, str | int | Reason] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.code, *self.values.items()))

    def __str__(self) -> str:
        return self.english()

    def english(self) -> str:
        """The reason in English, whatever language the interface speaks."""
        text = TEXTS.get(self.code, self.code)
        if not isinstance(text, str):
            text = text[0] if self.values["n"] == 1 else text[1]
        return text.format(**self.values)


def because(code: str, /, **values: object) -> Reason:
    """A reason; what is neither a number nor a reason becomes text."""
    kept = {
        name: value if isinstance(value, int | Reason) else str(value)
        for name, value in values.items()
    }
    return Reason(code, kept)


def quote_value(text: str) -> Reason:
    """Somebody else's words as a reason: the system's, a hook's."""
    return Reason("quoted", {"text": text})


def in_words(reason: Reason) -> str:
    """The reason in the language of the interface."""
    values = {
        name: in_words(value) if isinstance(value, Reason) else value
        for name, value in reason.values.items()
    }
    text = TEXTS.get(reason.code, reason.code)
    if isinstance(text, str):
        return tr(text, **values)
    number = values["n"]
    return trn(*text, number if isinstance(number, int) else 0, **values)


class ReasonedError(Exception):
    """The base of errors that carry a reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason
