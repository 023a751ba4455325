"""The slash commands that extensions bring, beside our own."""

import inspect
from collections.abc import Iterable, Sequence

from agent_cli.commands._command import Command, Desk
from agent_cli.core.extensions import AnySlashCommand, PromptCommand, SlashCommand
from agent_cli.core.session import Session
from agent_cli.core.written import Written
from agent_cli.lib.language import tr


def with_foreign(own: Sequence[Command], session: Session) -> list[Command]:
    """Our own commands and those of extensions; a name of our own stays our own."""
    taken = {name for command in own for name in (command.name, *command.aliases)}
    foreign = [each for each in session.extensions.commands if each.name not in taken]
    return [*own, *map(_adapted, foreign)]


def find(name: str, commands: Iterable[Command]) -> Command | None:
    """The command of this name or alias."""
    wanted = name.lower()
    return next((each for each in commands if wanted in (each.name, *each.aliases)), None)


def as_prompt(text: str, session: Session) -> str | Written:
    """What is sent where there are no other commands: `/name …` is what a file wrote for it."""
    name, argument = [*text.split(None, 1), "", ""][:2]
    for command in session.extensions.commands:
        if isinstance(command, PromptCommand) and f"/{command.name}" == name.lower():
            return command.prompt(argument.strip())
    return text


def _adapted(command: AnySlashCommand) -> Command:
    def run(desk: Desk, argument: str) -> None:
        if isinstance(command, PromptCommand):
            desk.send(command.prompt(argument))
            return
        desk.session.extensions.background(_carry_out(command, desk, argument))

    return Command(name=command.name, help=command.help, run=run, argument=command.argument)


async def _carry_out(command: SlashCommand, desk: Desk, argument: str) -> None:
    try:
        said = command.run(argument)
        text = await said if inspect.isawaitable(said) else said
    except Exception as error:  # an extension's own
        what = f"{type(error).__name__}: {error}"
        desk.warn(tr("/{name} failed ({what}).", name=command.name, what=what))
        return
    if text:
        desk.say(str(text))
