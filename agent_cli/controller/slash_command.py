"""What a slash command is, and how the one that was typed is found."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_cli.controller.controller import Controller

    Run = Callable[[Controller, str], Coroutine[Any, Any, None] | None]


@dataclass(frozen=True, kw_only=True)
class Command:
    """A slash command: `/name argument`."""

    name: str
    help: str
    run: Run
    """Carries it out. A UserError is shown as a warning; anything else is a bug, and reported."""
    argument: str = ""
    """What it wants to be followed by: "<name>", or "[name]" if it can do without."""
    aliases: tuple[str, ...] = ()


def slash_command(
    name: str, help_text: str, argument: str = "", *, aliases: tuple[str, ...] = ()
) -> Callable[[Run], Command]:
    """Make a command of the function that carries it out."""
    return lambda run: Command(
        name=name, help=help_text, run=run, argument=argument, aliases=aliases
    )


def find(name: str, commands: Iterable[Command]) -> Command | None:
    """The command of this name or alias."""
    wanted = name.lower()
    return next((each for each in commands if wanted in (each.name, *each.aliases)), None)


def matching(commands: Sequence[Command], typed: str) -> Iterator[Command]:
    """The commands that begin with what was typed, then those that contain it."""
    typed = typed.lower()
    begins = [command for command in commands if command.name.startswith(typed)]
    yield from begins
    yield from (c for c in commands if typed in c.name and c not in begins)
