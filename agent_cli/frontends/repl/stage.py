"""What the inline frontend needs of a terminal, whatever the terminal can do."""

from collections.abc import Callable, Sequence
from typing import Protocol

from agent_cli.controller.answers import Answer
from agent_cli.frontends.repl.paper import Paper
from agent_cli.frontends.shared.signs import Signs


class Abandoned(Exception):
    """The person wants to leave instead of answering."""


class Stage(Protocol):
    """Shows things, asks things, and passes on what the person sends."""

    @property
    def paper(self) -> Paper:
        """Where things are printed."""
        ...

    @property
    def signs(self) -> Signs:
        """The signs it can show."""
        ...

    async def choose(self, heading: str, answers: Sequence[Answer], *, leave: str = "") -> str:
        """The id of the answer that was given on purpose; the first one is the default.

        To go away without an answer gives `leave`, or the default.
        """
        ...

    async def line(self, hint: str) -> str | None:
        """A line of text; None: the person went back."""
        ...

    async def edit(self, text: str) -> str | None:
        """The text as the person's editor left it; None: as it was."""
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


class Audience(Protocol):
    """Who listens to a stage."""

    def submitted(self, text: str) -> None:
        """The person sent something."""
        ...

    def submitted_empty(self) -> None:
        """The person pressed Enter on nothing: what waits shall be sent now."""
        ...

    def take_back(self) -> str:
        """The last message that waits, taken from the queue; empty if none does."""
        ...

    def interrupt(self) -> bool:
        """End the turn; False if none is under way."""
        ...

    def next_mode(self) -> None:
        """Go on to the next permission mode."""
        ...

    def leave(self) -> None:
        """End the program."""
        ...

    @property
    def is_busy(self) -> bool:
        """Whether a turn is under way."""
        ...

    async def idle(self) -> None:
        """Wait until nothing is under way and nothing waits."""
        ...

    def status(self) -> str:
        """What the status line tells."""
        ...

    @property
    def queue(self) -> Sequence[str]:
        """The messages that wait."""
        ...


View = Callable[[int, int], str]
"""Draws what is still going on, in so many columns and at most so many lines."""
