"""The rules that "always" would add: the narrowest that are useful, or none."""

from typing import Any

from agent_cli.core.deciding.rules import Facts
from agent_cli.core.errors import UserError
from agent_cli.core.policy import Policy
from agent_cli.core.tool import Invocation, ToolKind
from agent_cli.safety.shell import SimpleCommand, propose_rule

WILD = frozenset("*?")
MAX_RULES = 4
"""More than these nobody reads before saying "always"."""


def offered_rules(invocation: Invocation[Any], facts: Facts, policy: Policy) -> tuple[str, ...]:
    """Rules that would have let this call through; none where "always" should not be offered.

    It is not offered in a folder that is not trusted, for what is dangerous, and where it would
    not help: because another rule asks, or because secret or protected files ask in any case.
    """
    if not policy.trusted or facts.dangers:
        return ()
    rules = _own_rules(invocation, facts, policy)
    try:
        return rules if rules and policy.would_allow(facts, *rules) else ()
    except UserError:
        return ()


def _own_rules(invocation: Invocation[Any], facts: Facts, policy: Policy) -> tuple[str, ...]:
    tool = invocation.tool
    if tool.rule is None and facts.commands:
        return _command_rules(tool.name, facts, policy)
    if tool.rule is not None:
        rule = tool.rule(invocation.params)
    elif facts.hosts:
        rule = f"{tool.name}(domain:{facts.hosts[0]})" if len(set(facts.hosts)) == 1 else None
    else:
        rule = _path_rule(facts, policy)
    return (rule,) if rule else ()


def _command_rules(tool: str, facts: Facts, policy: Policy) -> tuple[str, ...]:
    """One for each command that is not proven, all of them known to the last word."""
    if facts.unresolved:
        return ()
    patterns: dict[str, None] = {}
    for command in facts.commands:
        if command.is_proven:
            continue
        simple = SimpleCommand(
            command.argv, " ".join(command.argv), command.level, known=command.is_known
        )
        pattern = propose_rule(simple, policy.place.home, policy.place.root)
        if pattern is None or len(patterns) == MAX_RULES:
            return ()
        patterns[pattern] = None
    return tuple(f"{tool}({pattern})" for pattern in patterns)


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
