"""Undo, redo and going back: what is the same whoever asks the person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from agent_cli.core.errors import UserError
from agent_cli.core.events import Notice
from agent_cli.core.undo.plan import Choice, Preview
from agent_cli.core.undo.undoing import Moment
from agent_cli.frontends.shared.answers import Answer
from agent_cli.frontends.shared.undo_words import conflict_answers, file_line, outcome
from agent_cli.lib.language import tr

if TYPE_CHECKING:  # the screen is there before it is loaded
    from agent_cli.core.session import Session

WENT_BACK = "the person went back"
"""Why the log of a session goes on from an earlier entry."""
Choose = Callable[[str, Sequence[Answer]], Awaitable[str]]
"""Puts a heading and answers to the person; the id of what they chose."""


async def settled(preview: Preview, root: str, choose: Choose) -> dict[str, Choice] | None:
    """What becomes of each conflict, asked one by one; None: the person wants none of it."""
    choices: dict[str, Choice] = {}
    for plan in preview.conflicts:
        name, fate = file_line(plan, root, preview.kind)
        asked = tr("You changed this file since: {name} ({fate})", name=name, fate=fate)
        match await choose(asked, conflict_answers(plan)):
            case "keep" | "restore" | "markers" as choice:
                choices[plan.path] = choice
            case _:
                return None
    return choices


async def carried_out(session: Session, preview: Preview, choices: Mapping[str, Choice]) -> Notice:
    """Do what was previewed, and keep with the session what the person is told of it."""
    restored = await session.undoing.apply(preview, choices)
    notice = outcome(preview, restored, session.workspace.root)
    session.note(notice)
    return notice


async def earlier_prompts(session: Session) -> Sequence[Moment]:
    """The prompts to go back to; raises UserError if there are none."""
    moments = await session.undoing.moments()
    if not moments:
        raise UserError(tr("There is no earlier prompt to go back to."))
    return moments


async def with_files(
    session: Session, to: Moment, carry_out: Callable[[Preview], Awaitable[bool]]
) -> bool:
    """Have the files as they were before a prompt; False: the person wants none of it."""
    preview = await session.undoing.preview_since(to.turn)
    return not preview.records or await carry_out(preview)
