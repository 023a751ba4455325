"""The rule that "always" would add: the narrowest that is useful, or none."""

from typing import Any

from agent_cli.core.deciding.rules import Facts
from agent_cli.core.errors import UserError
from agent_cli.core.policy import Policy
from agent_cli.core.tool import Invocation, ToolKind
from agent_cli.safety.shell import SimpleCommand, propose_rule

WILD = frozenset("*?")


def offered_rule(invocation: Invocation[Any], facts: Facts, policy: Policy) -> str | None:
    """A rule that would have let this call through; None where "always" should not be offered.

    It is not offered in a folder that is not trusted, for what is dangerous, and where it would
    not help: because another rule asks, or because secret or protected files ask in any case.
    """
    if not policy.trusted or facts.dangers:
        return None
    rule = _own_rule(invocation, facts, policy)
    try:
        return rule if rule and policy.would_allow(facts, rule) else None
    except UserError:
        return None


def _own_rule(invocation: Invocation[Any], facts: Facts, policy: Policy) -> str | None:
    tool = invocation.tool
    if tool.rule is not None:
        return tool.rule(invocation.params)
    if facts.commands:
        return _command_rule(tool.name, facts, policy)
    if facts.hosts:
        return f"{tool.name}(domain:{facts.hosts[0]})" if len(set(facts.hosts)) == 1 else None
    return _path_rule(facts, policy)


def _command_rule(tool: str, facts: Facts, policy: Policy) -> str | None:
    """Only for a line that is one simple command, known to the last word."""
    if len(facts.commands) != 1 or facts.unresolved:
        return None
    (command,) = facts.commands
    simple = SimpleCommand(command.argv, " ".join(command.argv), known=command.is_known)
    pattern = propose_rule(simple, policy.place.home, policy.place.root)
    return f"{tool}({pattern})" if pattern else None


def _path_rule(facts: Facts, policy: Policy) -> str | None:
    """The one file itself: whoever wants to let more through can choose the mode accept-edits."""
    if facts.kind is ToolKind.EXECUTE or len(facts.paths) != 1:
        return None
    (path,) = facts.paths
    inside = path.real.removeprefix(policy.place.root.rstrip("/") + "/")
    if WILD & set(path.real):
        return None
    verb = "Edit" if path.access == "write" else "Read"
    # A name that begins with ~ would be taken for the home directory.
    return f"{verb}({'./' if inside.startswith('~') else ''}{inside})"
