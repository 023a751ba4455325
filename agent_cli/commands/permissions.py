"""Shows the rules that apply."""

from agent_cli.commands._command import Command, Desk
from agent_cli.lib.language import mark, tr

DENY, ASK, ALLOW = mark("Deny"), mark("Ask"), mark("Allow")


def run(desk: Desk, argument: str) -> None:
    """The rules in force, by effect."""
    rules = desk.session.rules
    parts = []
    for effect, given in ((DENY, rules.deny), (ASK, rules.ask), (ALLOW, rules.allow)):
        listed = "\n".join(f"- `{rule.text}`" for rule in given) or tr("- none")
        parts.append(f"**{tr(effect)}**\n\n{listed}")
    desk.say("\n\n".join(parts))


COMMAND = Command(name="permissions", help=mark("the rules that apply"), run=run)
