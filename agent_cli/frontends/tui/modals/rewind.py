"""The prompts of a session, to go back to one of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from textual.content import Content

from agent_cli.core.undo.undoing import Moment
from agent_cli.controller.answers import Answer
from agent_cli.frontends.shared.typed_ahead import TypedAhead
from agent_cli.controller.undo_words import called, moment_answers, rewinds, shown, verb
from agent_cli.frontends.tui.ink import MUTED
from agent_cli.frontends.tui.modals.guarded import GuardedModal
from agent_cli.frontends.tui.modals.sheet import Part, Prose, Space
from agent_cli.lib.language import mark, tr
from agent_cli.safety.sanitise import visible

HEADING = mark("Go back to before which prompt?")
MOST_LISTED = 200


@dataclass(frozen=True)
class Rewind:
    """Where to go back to, and what goes back."""

    moment: Moment
    what: Literal["both", "conversation", "files"]


class RewindModal(GuardedModal[Rewind | None]):
    """First which prompt, then what; Esc leaves everything as it is."""

    def __init__(
        self, moments: Sequence[Moment], root: str, *, guard: TypedAhead | None = None
    ) -> None:
        self._moments = moments
        self._root = root
        self._page = 0
        self._chosen: Moment | None = None
        meaning = tr("What was said and done after it is taken back.")
        parts = (Prose(Content.styled(meaning, MUTED)),)
        super().__init__(tr(HEADING), parts, moment_answers(moments, 0), guard=guard)

    def give(self, answer: Answer) -> None:
        match answer.id:
            case "leave":
                self.dismiss(None)
            case "earlier":
                self._page += 1
                self.show(tr(HEADING), (), moment_answers(self._moments, self._page))
            case "both" | "conversation" | "files" if self._chosen is not None:
                self.dismiss(Rewind(self._chosen, answer.id))
            case turn:
                self._choose(int(turn))

    def leave(self) -> None:
        self.dismiss(None)

    def _choose(self, turn: int) -> None:
        self._chosen = next(each for each in self._moments if each.turn == turn)
        later = [each for each in self._moments if each.turn >= turn]
        self.show(tr("What goes back?"), tuple(_parts(later, self._root)), rewinds())


def _parts(moments: Sequence[Moment], root: str) -> Iterator[Part]:
    """What each call since then changed."""
    listed = 0
    for moment in moments:
        prompt = visible(" ".join(moment.prompt.split())[:200], one_line=True)
        yield Prose(Content.styled(prompt or tr("(tried again)"), "bold"))
        for record in moment.calls:
            yield Prose(Content(f"  {visible(called(record), one_line=True)}"))
            for change in record.changes:
                listed += 1
                if listed <= MOST_LISTED:
                    text = f"    {verb(change)} {shown(change.path, root)}"
                    yield Prose(Content.styled(text, MUTED))
    if listed > MOST_LISTED:
        more = tr("and {n:,} more", n=listed - MOST_LISTED)
        yield Prose(Content.styled(f"    {more}", MUTED))
    yield Space()
