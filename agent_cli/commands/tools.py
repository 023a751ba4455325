"""Lists the tools."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.core.tool import AnyTool
from agent_cli.lib.language import mark, tr

KINDS = (mark("readonly"), mark("session"), mark("write"), mark("execute"))


def run(controller: Controller, argument: str) -> None:
    """Each tool with its first sentence."""
    controller.say("\n".join(map(_row, controller.session.tools)))


def _row(tool: AnyTool) -> str:
    return f"- **{tool.name}** ({tr(tool.kind.value)}): {tr(tool.description.first_sentence)}"


COMMAND = Command(name="tools", help=mark("list the model's tools"), run=run)
