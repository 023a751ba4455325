"""What a question about a command has shown, to be compared with what is so after the answer."""

import os
from typing import Any, NamedTuple

from agent_cli.core.deciding.rules import Facts
from agent_cli.core.inbox import ApprovalRequest
from agent_cli.safety.impact.short_names import printable
from agent_cli.safety.reasons import Reason
from agent_cli.safety.scripts import is_script

_MAX_WORDS = 2_000
_INEXACT = frozenset({"at_least", "not_counted"})
"""Reasons whose figures depend on how far counting got."""


class Shown(NamedTuple):
    """What an answer is bound to."""

    leads: tuple[Any, ...]
    """Where everything leads."""
    counted: tuple[Any, ...]
    """How much would be touched."""

    def changed(self, before: "Shown") -> tuple[str, ...]:
        """The words that lead elsewhere than before, and where: "docs/x → /srv/y"."""
        known = {word: real for word, real, *_ in before.leads[1]}
        now = ((word, real) for word, real, *_ in self.leads[1])
        return tuple(f"{printable(w)} → {printable(r)}" for w, r in now if known.get(w) != r)


def shown_by(request: ApprovalRequest, facts: Facts) -> Shown:
    """What a question shows, as it is on the disk at this moment."""
    counted = tuple(map(_without_figures, request.consequences))
    steps = tuple((each.text, tuple(map(_without_figures, each.note))) for each in request.steps)
    return Shown(where_it_leads(facts, request.directory), (counted, steps))


def where_it_leads(facts: Facts, directory: str) -> tuple[Any, ...]:
    """Where the paths and all words of a command lead that name something; links are followed."""
    paths = tuple((each.real, each.access, os.path.realpath(each.real)) for each in facts.paths)
    words = {word for command in facts.commands for word in command.argv[:_MAX_WORDS]}
    words |= {word.partition("=")[2] for word in words if "=" in word}
    return paths, tuple(sorted(filter(None, (_lead(directory, word) for word in words))))


def _lead(directory: str, word: str) -> tuple[Any, ...] | None:
    """The thing a word names; of a file that can be run also which state it is in."""
    try:
        place = os.path.join(directory, os.path.expanduser(word))  # noqa: PTH111, PTH118 (words)
        status = os.stat(place)  # noqa: PTH116
        real = os.path.realpath(place)
    except (OSError, ValueError):
        return None
    state = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return word, real, status.st_dev, status.st_ino, *(state if is_script(real) else ())


def _without_figures(reason: Reason) -> Any:
    """A reason without its sizes: files that are written to meanwhile are still the same files."""
    if reason.code in _INEXACT:
        return reason.code
    kept = {key: value for key, value in reason.values.items() if key != "size"}
    return reason.code, tuple(
        (key, _without_figures(value) if isinstance(value, Reason) else str(value))
        for key, value in sorted(kept.items())
    )
