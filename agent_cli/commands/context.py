"""Shows how full the model's window is."""

from agent_cli.commands._command import Command, Desk


def run(desk: Desk, argument: str) -> None:
    """The tokens of the last request, and how many there may be."""
    session = desk.session
    sent, window = session.context_tokens, desk.window()
    share = f" of {window:,} ({sent / window:.0%})" if window else ""
    desk.say(
        f"The last request had **{sent:,}** tokens{share}; the conversation has "
        f"{len(session.messages):,} messages."
    )


COMMAND = Command(name="context", help="how full the model's window is", run=run)
