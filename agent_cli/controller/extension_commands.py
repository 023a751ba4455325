"""The slash commands that extensions bring, beside our own."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_cli.controller.slash_command import Command
from agent_cli.core.extension_protocol import AnySlashCommand, PromptCommand, SlashCommand
from agent_cli.lib.language import tr

if TYPE_CHECKING:
    from agent_cli.controller.controller import Controller
    from agent_cli.core.session import Session


def with_extensions(own: Sequence[Command], session: Session) -> list[Command]:
    """Our own commands and those of extensions; a name of our own stays our own."""
    taken = {name for command in own for name in (command.name, *command.aliases)}
    others = [each for each in session.extensions.commands if each.name not in taken]
    return [*own, *map(_adapt, others)]


def _adapt(command: AnySlashCommand) -> Command:
    async def run(controller: Controller, argument: str) -> None:
        if isinstance(command, PromptCommand):
            controller.send(command.prompt(argument))
        else:
            await _run(command, controller, argument)

    return Command(name=command.name, help=command.help, run=run, argument=command.argument)


async def _run(command: SlashCommand, controller: Controller, argument: str) -> None:
    try:
        result = command.run(argument)
        text = await result if inspect.isawaitable(result) else result
    except Exception as error:  # an extension's own
        what = f"{type(error).__name__}: {error}"
        controller.warn(tr("/{name} failed ({what}).", name=command.name, what=what))
        return
    if text:
        controller.view.say(str(text))
