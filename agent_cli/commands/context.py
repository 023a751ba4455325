"""Shows how full the model's window is."""

from agent_cli.commands._command import Command, Desk


def run(desk: Desk, argument: str) -> None:
    """The tokens of the last request."""
    session = desk.session
    sent = session.context_tokens
    desk.say(
        f"The last request had **{sent:,}** tokens; the conversation has "
        f"{len(session.messages):,} messages."
    )


COMMAND = Command(name="context", help="how full the model's window is", run=run)
