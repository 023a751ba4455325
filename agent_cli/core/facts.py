"""What is known of a call before it runs: its targets, resolved and looked at."""

import asyncio
import glob
import os
from dataclasses import replace
from typing import Any

from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.permissions import CommandFact, Facts, PathFact
from agent_cli.core.tool import Invocation, Target, ToolKind
from agent_cli.core.tool_context import ShellStanding
from agent_cli.safety import shell as shell_analysis
from agent_cli.safety.paths import PathProblem, Workspace


async def gather(
    invocation: Invocation[Any], workspace: Workspace, shell: ShellStanding, *, trusted: bool
) -> Facts:
    """The facts about a call, in the place where it would run."""
    tool = invocation.tool
    facts = Facts(
        tool=tool.name,
        kind=tool.kind,
        needs_permission=bool(tool.requires_permission),
        hosts=tuple(target.value for target in invocation.targets if target.kind == "host"),
        unproven=() if tool.kind is ToolKind.READONLY else ("it is not read-only",),
    )
    for target in invocation.targets:
        if target.kind == "path":
            facts = replace(facts, paths=(*facts.paths, _path_fact(target, workspace)))
        elif target.kind == "command":
            facts = await _with_command(facts, target, workspace, shell, trusted=trusted)
    return facts


def _path_fact(target: Target, workspace: Workspace) -> PathFact:
    try:
        path = workspace.resolve(target.value, cwd=target.base)
    except PathProblem as problem:
        raise ToolFailure(f"{problem}.", type=FailureType.VALIDATION) from problem
    found = workspace.facts(path)
    is_write = target.access == "write"
    return PathFact(
        typed=target.value,
        real=path.real,
        access="write" if is_write else "read",
        outside=not (found.inside or (not is_write and workspace.may_read(path.real))),
        secret=found.secret,
        protected=found.protected,
        forbidden=(found.own or found.special) if is_write else None,
        lexical=path.lexical,
    )


async def _with_command(
    facts: Facts, target: Target, workspace: Workspace, shell: ShellStanding, *, trusted: bool
) -> Facts:
    """The facts with those of a shell command added."""
    command = target.value
    directory = target.base or shell.directory or workspace.root
    place = shell_analysis.Place(
        cwd=os.path.join(workspace.root, directory),  # noqa: PTH118 (text, not a Path)
        roots=(workspace.root, *workspace.added),
        home=workspace.home,
        shell_is_plain=not shell.altered_by,
        trusted=trusted,
        resolve=os.path.realpath,
        expand=lambda pattern: tuple(glob.glob(pattern)),  # noqa: PTH207
    )
    found = shell_analysis.analyse(command, place)
    unproven, unresolved = found.unproven, found.unresolved
    if not unresolved and not await asyncio.to_thread(shell_analysis.bash_accepts, command):
        unproven, unresolved = (*unproven, "bash itself does not accept it"), True
    return replace(
        facts,
        commands=facts.commands
        + tuple(
            CommandFact(each.argv, not each.unproven, each.known, each.text, each.level)
            for each in found.commands
        ),
        paths=facts.paths
        + tuple(PathFact(path, path, "read") for path in found.reads)
        + tuple(PathFact(path, path, "write") for path in found.writes),
        sensitive=facts.sensitive + found.sensitive,
        unproven=unproven,
        unresolved=unresolved,
        dangers=found.dangers,
        catastrophic=found.catastrophic,
        destroys=facts.destroys + found.destroys,
        touches_network=facts.touches_network or found.touches_network,
        needs_permission=bool(unproven),
    )
