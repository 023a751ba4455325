"""Lists the tools."""

from agent_cli.commands._command import Command, Desk
from agent_cli.core.tool import AnyTool
from agent_cli.lib.language import mark, tr

KINDS = (mark("readonly"), mark("session"), mark("write"), mark("execute"))


def run(desk: Desk, argument: str) -> None:
    """Each tool with its first sentence."""
    desk.say("\n".join(map(_row, desk.session.tools)))


def _row(tool: AnyTool) -> str:
    return f"- **{tool.name}** ({tr(tool.kind.value)}): {tr(tool.description.first_sentence)}"


COMMAND = Command(name="tools", help=mark("what the model can do"), run=run)
