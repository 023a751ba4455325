"""Lists the tools."""

from agent_cli.commands._command import Command, Desk


def run(desk: Desk, argument: str) -> None:
    """Each tool with its first sentence."""
    rows = [
        f"- **{tool.name}** ({tool.kind.value}): {tool.description.short.split('. ')[0]}"
        for tool in desk.session.tools
    ]
    desk.say("\n".join(rows))


COMMAND = Command(name="tools", help="what the model can do", run=run)
