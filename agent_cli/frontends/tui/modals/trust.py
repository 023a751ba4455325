"""Is this folder trusted? Asked before anything of it is loaded or run."""

from collections.abc import Iterator, Sequence

from textual.content import Content

from agent_cli.controller.answers import (
    TRUST_ENABLES,
    TRUST_HEADING,
    TRUST_MEANING,
    Answer,
    trust_answers,
)
from agent_cli.frontends.shared.typed_ahead import TypedAhead
from agent_cli.frontends.tui.modals.guarded import GuardedModal
from agent_cli.frontends.tui.modals.sheet import Lines, Part, Prose, Space
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import visible


class TrustModal(GuardedModal[bool]):
    """`enables` says in words what trust would turn on: "2 hooks in .agent/hooks.toml"."""

    def __init__(
        self, folder: str, enables: Sequence[str] = (), *, guard: TypedAhead | None = None
    ) -> None:
        parts = tuple(_parts(folder, enables))
        super().__init__(tr(TRUST_HEADING), parts, trust_answers(), guard=guard)

    def give(self, answer: Answer) -> None:
        self.dismiss(answer.id == "yes" and self.seen_end)


def _parts(folder: str, enables: Sequence[str]) -> Iterator[Part]:
    yield Lines(Content.styled(visible(folder, one_line=True), "bold"))
    yield Space()
    yield Prose(Content(tr(TRUST_MEANING)))
    if enables:
        yield Space()
        yield Prose(Content(tr(TRUST_ENABLES)))
        yield from (Lines(Content(f"· {visible(text, one_line=True)}"), 2) for text in enables)
