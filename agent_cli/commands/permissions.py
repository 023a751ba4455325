"""Shows the rules that apply."""

from agent_cli.commands._command import Command, Desk


def run(desk: Desk, argument: str) -> None:
    """The rules in force, by effect."""
    rules = desk.session.rules
    parts = []
    for effect, given in (("Deny", rules.deny), ("Ask", rules.ask), ("Allow", rules.allow)):
        listed = "\n".join(f"- `{rule.text}`" for rule in given) or "- none"
        parts.append(f"**{effect}**\n\n{listed}")
    desk.say("\n\n".join(parts))


COMMAND = Command(name="permissions", help="the rules that apply", run=run)
