"""Lists hooks: commands that run when something happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.extension_setup import hooks_of
from agent_cli.lib.language import mark, tr
from agent_cli.safety.sanitise import visible

if TYPE_CHECKING:
    from agent_cli.extensions.hook_definition import Hook


def run(controller: Controller, argument: str) -> None:
    """Each hook with its moment."""
    rows = "\n".join(map(_row, hooks_of(controller.session)))
    controller.say(rows or tr("There are no hooks. `[[hooks]]` in the configuration adds one."))


def _row(hook: Hook) -> str:
    about = f" ({', '.join(hook.tools)})" if hook.tools else ""
    timeout = tr("timeout {seconds:g} s", seconds=hook.timeout)
    return visible(f"- **{hook.on}**{about}: {hook.name}, {timeout}", one_line=True)


COMMAND = Command(name="hooks", help=mark("list hooks"), run=run)
