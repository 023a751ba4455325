"""Another program has the session: shall a copy of it go on here?"""

from textual.content import Content

from agent_cli.controller.answers import IN_USE_HEADING, Answer, in_use_answers
from agent_cli.frontends.shared.typed_ahead import TypedAhead
from agent_cli.frontends.tui.modals.guarded import GuardedModal
from agent_cli.frontends.tui.modals.sheet import Prose
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import visible


class InUseModal(GuardedModal[bool]):
    """Ends with whether a copy is wanted."""

    def __init__(self, message: str, *, guard: TypedAhead | None = None) -> None:
        parts = (Prose(Content(visible(message, one_line=True))),)
        super().__init__(tr(IN_USE_HEADING), parts, in_use_answers(), guard=guard)

    def give(self, answer: Answer) -> None:
        self.dismiss(answer.id == "yes")
