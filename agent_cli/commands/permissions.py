"""Shows the rules that apply."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.lib.language import mark, tr

DENY, ASK, ALLOW = mark("Deny"), mark("Ask"), mark("Allow")


def run(controller: Controller, argument: str) -> None:
    """The rules in force, by effect."""
    rules = controller.session.rules
    parts = []
    for effect, given in ((DENY, rules.deny), (ASK, rules.ask), (ALLOW, rules.allow)):
        listed = "\n".join(f"- `{rule.text}`" for rule in given) or tr("- none")
        parts.append(f"**{tr(effect)}**\n\n{listed}")
    controller.say("\n\n".join(parts))


COMMAND = Command(name="permissions", help=mark("show the permission rules"), run=run)
