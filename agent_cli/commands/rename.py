"""Gives the session a title."""

from agent_cli.commands._command import Command, Desk
from agent_cli.core.errors import ModelError, UserError
from agent_cli.lib.language import mark, tr


def run(desk: Desk, title: str) -> None:
    """The title that is given, or one that the fast model makes."""
    if title:
        desk.session.rename(title)
        _tell(desk)
    elif not desk.session.messages:
        desk.warn(tr("There is nothing to make a title of yet."), tr("/rename TITLE gives one."))
    else:
        desk.background(_make(desk))


async def _make(desk: Desk) -> None:
    try:
        title = await desk.session.make_title()
    except (ModelError, UserError) as error:
        desk.warn(tr("No title could be made: {why}", why=error.message), error.hint)
        return
    if title:
        _tell(desk)
    else:
        desk.warn(tr("The model gave no title."), tr("/rename TITLE gives one."))


def _tell(desk: Desk) -> None:
    desk.notify(tr("The session is called “{title}”.", title=desk.session.title))
    desk.changed()


COMMAND = Command(
    name="rename", help=mark("give the session a title"), argument=mark("[title]"), run=run
)
