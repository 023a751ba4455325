"""Examples that a rule must and must not match, checked when the rule is loaded."""

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Literal

from agent_cli.core.deciding.rules import (
    CommandFact,
    Facts,
    PathFact,
    PatternBase,
    Rule,
    all_allowed,
    touches,
)
from agent_cli.core.policy import Effect
from agent_cli.core.tool import ToolKind
from agent_cli.lib.language import mark, tr
from agent_cli.safety import shell

# Examples are about words and names, so any place will do.
EXAMPLE_BASE = PatternBase(root="/workspace", home="/home/user")


def wrong_example(
    rule: Rule, effect: Effect, match: Iterable[str] = (), not_match: Iterable[str] = ()
) -> str | None:
    """What is wrong with the first example that does not hold, in words; None: all hold."""
    too_narrow = mark("the rule {rule} should match its example {text!r}, but doesn't")
    too_wide = mark("the rule {rule} shouldn't match its example {text!r}, but does")
    for texts, expected, said in ((match, True, too_narrow), (not_match, False, too_wide)):
        for text in texts:
            if _is_matched(rule, effect, text) is not expected:
                return tr(said, rule=rule.text, text=text)
    return None


def _is_matched(rule: Rule, effect: Effect, example: str) -> bool:
    if rule.tool == "Bash":
        facts = _of_command(example)
    elif rule.pattern is not None and rule.pattern.startswith("domain:"):
        facts = Facts(rule.tool, ToolKind.READONLY, needs_permission=False, hosts=(example,))
    else:
        facts = _of_path(rule.tool, example)
    if effect is Effect.ALLOW:
        return all_allowed(facts, (rule,), EXAMPLE_BASE) is not None
    return touches(rule, facts, EXAMPLE_BASE)


def _of_command(example: str) -> Facts:
    found = shell.analyse(
        example, shell.ShellContext(EXAMPLE_BASE.root, (EXAMPLE_BASE.root,), EXAMPLE_BASE.home)
    )
    return Facts(
        tool="Bash",
        kind=ToolKind.EXECUTE,
        needs_permission=True,
        # Not marked as proven: the rule is to match by itself.
        commands=tuple(CommandFact(each.argv, is_known=each.known) for each in found.commands),
        unresolved=found.unresolved,
    )


def _of_path(tool: str, example: str) -> Facts:
    spelled = f"{EXAMPLE_BASE.home}/{example[2:]}" if example.startswith("~/") else example
    path = str(PurePosixPath(EXAMPLE_BASE.root, spelled))
    access: Literal["read", "write"] = "read" if tool == "Read" else "write"
    return Facts(
        tool=tool,
        kind=ToolKind.READONLY if access == "read" else ToolKind.WRITE,
        needs_permission=access == "write",
        paths=(PathFact(example, path, access),),
    )
