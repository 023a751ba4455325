"""Gives the session a title."""

from agent_cli.commands._command import Command, Desk
from agent_cli.core.errors import ModelError, UserError


def run(desk: Desk, title: str) -> None:
    """The title that is given, or one that the fast model makes."""
    if title:
        desk.session.rename(title)
        _tell(desk)
    elif not desk.session.messages:
        desk.warn("There is nothing to make a title of yet.", "/rename TITLE gives one.")
    else:
        desk.background(_make(desk))


async def _make(desk: Desk) -> None:
    try:
        title = await desk.session.make_title()
    except (ModelError, UserError) as error:
        desk.warn(f"No title could be made: {error.message}", error.hint)
        return
    if title:
        _tell(desk)
    else:
        desk.warn("The model gave no title.", "/rename TITLE gives one.")


def _tell(desk: Desk) -> None:
    desk.notify(f"The session is called “{desk.session.title}”.")
    desk.changed()


COMMAND = Command(name="rename", help="give the session a title", argument="[title]", run=run)
