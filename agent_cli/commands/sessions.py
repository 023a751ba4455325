"""Leaves a session for another one, forks it, or names it."""

from dataclasses import replace

from agent_cli.controller.controller import Controller
from agent_cli.controller.past import as_resume
from agent_cli.controller.slash_command import slash_command
from agent_cli.core.errors import ModelError, UserError
from agent_cli.lib.language import mark, tr


@slash_command("sessions", mark("resume another session"), mark("[words]"), aliases=("resume",))
async def choose_session(controller: Controller, words: str) -> None:
    """Resume the one that is chosen, of those that contain these words, if any."""
    if controller.is_busy:
        controller.warn_busy()
    elif chosen := await controller.view.choose_session(words):
        await controller.resume(chosen)


@slash_command("fork", mark("continue in a copy of this session"))
async def fork_session(controller: Controller, argument: str) -> None:
    """Leave the session where it is, and open its copy."""
    if resume := as_resume(controller.session):
        await controller.resume(replace(resume, fork=True))
    else:
        controller.warn(tr("Nothing to fork yet."))


@slash_command("rename", mark("rename the session"), mark("[title]"))
async def rename_session(controller: Controller, title: str) -> None:
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
    controller.view.notify(tr("Renamed to “{title}”.", title=controller.session.title))
    controller.refresh()


@slash_command("clear", mark("start a new conversation"), aliases=("new",))
def clear(controller: Controller, argument: str) -> None:
    """On an empty screen."""
    with controller.exclusively():
        controller.session.forget()
        controller.show_again(())


@slash_command("quit", mark("leave"), aliases=("exit",))
def leave(controller: Controller, argument: str) -> None:
    """End the program."""
    controller.view.leave()


@slash_command("help", mark("show keys and commands"))
def show_help(controller: Controller, argument: str) -> None:
    """All those that work in this view."""
    controller.view.show_help(controller.commands)
