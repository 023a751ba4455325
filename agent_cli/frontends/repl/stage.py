"""What the inline frontend needs of a terminal, whatever the terminal can do."""

from collections.abc import Sequence
from typing import Protocol

from agent_cli.controller.answers import AnswerOption
from agent_cli.frontends.repl.paper import Paper
from agent_cli.frontends.shared.signs import Signs


class Abandoned(Exception):
    """The user wants to leave instead of answering."""


class Stage(Protocol):
    """Shows things, asks things, and passes on what the user types."""

    @property
    def paper(self) -> Paper:
        """Where things are printed."""
        ...

    @property
    def signs(self) -> Signs:
        """The signs it can show."""
        ...

    async def choose(
        self, heading: str, answers: Sequence[AnswerOption], *, leave: str | None = None
    ) -> str:
        """The id of the answer that was given on purpose; the first one is the default.

        To go away without an answer gives `leave`, or the default.
        """
        ...

    async def line(self, hint: str) -> str | None:
        """A line of text; None: the user went back."""
        ...

    async def edit(self, text: str) -> str | None:
        """The text as the user's editor left it; None: as it was."""
        ...

    def prefill(self, text: str) -> None:
        """Put a text into the prompt, to be sent again or changed."""
        ...

    def copy(self, text: str) -> bool:
        """Put a text on the clipboard; False: there is none."""
        ...

    def changed(self) -> None:
        """Something that is drawn again and again has changed."""
        ...
