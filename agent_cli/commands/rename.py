"""Gives the session a title."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.core.errors import ModelError, UserError
from agent_cli.lib.language import mark, tr


async def run(controller: Controller, title: str) -> None:
    """The given title, or one that the fast model makes."""
    if title:
        controller.session.rename(title)
        _tell(controller)
    elif not controller.session.messages:
        controller.warn(tr("Nothing to base a title on yet."), tr("/rename TITLE sets one."))
    else:
        await _make(controller)


async def _make(controller: Controller) -> None:
    try:
        title = await controller.session.make_title()
    except (ModelError, UserError) as error:
        controller.warn(tr("Couldn't make a title: {why}", why=error.message), error.hint)
        return
    if title:
        _tell(controller)
    else:
        controller.warn(tr("The model gave no title."), tr("/rename TITLE sets one."))


def _tell(controller: Controller) -> None:
    controller.notify(tr("Renamed to “{title}”.", title=controller.session.title))
    controller.refresh()


COMMAND = Command(name="rename", help=mark("rename the session"), argument=mark("[title]"), run=run)
