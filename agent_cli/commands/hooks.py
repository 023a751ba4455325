"""Lists hooks: what is run when something happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_cli.commands._command import Command, Desk
from agent_cli.extending import hooks_of
from agent_cli.lib.language import mark, tr
from agent_cli.safety.sanitise import visible

if TYPE_CHECKING:
    from agent_cli.extensions.hook import Hook


def run(desk: Desk, argument: str) -> None:
    """Each hook with its moment."""
    rows = "\n".join(map(_row, hooks_of(desk.session)))
    desk.say(rows or tr("There are no hooks. `[[hooks]]` in the configuration adds one."))


def _row(hook: Hook) -> str:
    about = f" ({', '.join(hook.tools)})" if hook.tools else ""
    told = tr(
        "- **{moment}**{about}: {name}, at most {seconds:g} s",
        moment=hook.on,
        about=about,
        name=hook.name,
        seconds=hook.timeout,
    )
    return visible(told, one_line=True)


COMMAND = Command(name="hooks", help=mark("what is run when something happens"), run=run)
