"""What is known of a call before it runs: its targets, resolved and looked at."""

from typing import Any

from agent_cli.core.permissions import CommandFact, Facts, PathFact
from agent_cli.core.tool import Invocation, Target, ToolKind
from agent_cli.core.tool_context import ShellStanding
from agent_cli.safety.paths import Workspace


async def gather(invocation: Invocation[Any], workspace: Workspace, shell: ShellStanding) -> Facts:
    """The facts about a call, in the place where it would run."""
    tool = invocation.tool
    hosts = tuple(t.value for t in invocation.targets if t.kind == "host")
    paths = tuple(_path_fact(t, workspace) for t in invocation.targets if t.kind == "path")
    commands = [t for t in invocation.targets if t.kind == "command"]
    unproven: tuple[str, ...] = ()
    if tool.kind is not ToolKind.READONLY:
        unproven = ("it is not read-only",)
    return Facts(
        tool=tool.name,
        kind=tool.kind,
        needs_permission=bool(tool.requires_permission),
        paths=paths,
        hosts=hosts,
        unproven=unproven,
        unresolved=bool(commands),
        commands=tuple(CommandFact((t.value,)) for t in commands),
    )


def _path_fact(target: Target, workspace: Workspace) -> PathFact:
    found = workspace.resolve(target.value, cwd=target.base)
    return PathFact(
        typed=target.value,
        real=str(found.real),
        access="write" if target.access == "write" else "read",
        outside=not found.inside,
    )
