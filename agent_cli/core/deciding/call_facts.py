"""What is known of a call before it runs: its targets, resolved and looked at."""

import asyncio
import os
from dataclasses import replace
from functools import cache
from typing import Any

from agent_cli.core.deciding.rules import CommandFact, Facts, PathFact
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.tool import Invocation, Target, ToolKind
from agent_cli.core.tool_context import ShellInfo
from agent_cli.safety import shell as shell_analysis
from agent_cli.safety.git_probe import git_is_plain, shown_paths
from agent_cli.safety.paths import PathProblem, Workspace
from agent_cli.safety.reasons import because


async def gather(
    invocation: Invocation[Any], workspace: Workspace, shell: ShellInfo, *, trusted: bool
) -> Facts:
    """The facts about a call, in the place where it would run."""
    tool = invocation.tool
    kind = _kind(invocation)
    is_milder = tool.kind is not ToolKind.READONLY and kind is ToolKind.READONLY
    hosts = tuple(target.value for target in invocation.targets if target.kind == "host")
    # What our shell runs is known by its commands; what another tool does, by its word alone.
    in_shell = tool.runs_in_shell and any(t.kind == "command" for t in invocation.targets)
    facts = Facts(
        tool=tool.name,
        kind=kind,
        needs_permission=bool(tool.requires_permission) and not is_milder and not in_shell,
        hosts=hosts,
        unproven=(
            *(() if kind is ToolKind.READONLY or in_shell else (because("not_read_only"),)),
            # Reading from somewhere tells that place something.
            *(because("talks_to", host=host) for host in dict.fromkeys(hosts)),
        ),
        in_shell=in_shell,
        dangers=(because("tool_says_dangerous"),) if invocation.is_dangerous else (),
        only_by_name=invocation.is_dangerous,
    )
    for target in invocation.targets:
        if target.kind == "path":
            facts = replace(facts, paths=(*facts.paths, _path_fact(target, workspace)))
        elif target.kind == "command":
            place = _shell_place(target, workspace, shell, trusted=trusted)
            found = await _analyse(target.value, place, workspace)
            programs = (*shell.programs, *workspace.programs)
            facts = _with_command(facts, found, _find_shadowed(found, programs))
            functions = shell.functions & _names(found)
            if shell.altered_by or functions:
                # A rule speaks of what a name means in a fresh shell.
                facts = replace(facts, unresolved=True)
            if functions:
                doubts = tuple(because("shell_function", name=name) for name in sorted(functions))
                facts = replace(facts, unproven=facts.unproven + doubts, needs_permission=True)
    return facts


def _kind(invocation: Invocation[Any]) -> ToolKind:
    """What the call does to the world: whatever it calls itself, what it writes it changes."""
    writes = any(t.kind == "path" and t.access == "write" for t in invocation.targets)
    if writes and invocation.kind is ToolKind.READONLY:
        return ToolKind.WRITE
    return invocation.kind


async def second_opinion(invocation: Invocation[Any], facts: Facts) -> Facts:
    """The facts, with a doubt added to each command that bash itself does not accept.

    It costs a process, so it is asked for only where it matters: before a command is allowed.
    """
    for target in invocation.targets:
        if target.kind != "command" or (facts.unresolved and facts.unproven):
            continue
        if not await asyncio.to_thread(shell_analysis.bash_accepts, target.value):
            facts = replace(
                facts,
                unproven=(*facts.unproven, because("bash_rejects")),
                unresolved=True,
                needs_permission=True,
            )
    return facts


def as_a_look(facts: Facts) -> Facts:
    """The facts, had the call only looked at what it would change."""
    paths = tuple(replace(p, access="read", protected=None, forbidden=None) for p in facts.paths)
    return replace(facts, kind=ToolKind.READONLY, paths=paths, unproven=(), needs_permission=False)


def _path_fact(target: Target, workspace: Workspace) -> PathFact:
    try:
        path = workspace.resolve(target.value, cwd=target.base)
    except PathProblem as problem:
        raise ToolFailure(f"{problem}.", type=FailureType.VALIDATION) from problem
    found = workspace.facts(path)
    is_write = target.access == "write"
    is_own_output = not is_write and workspace.is_own_output(path.real)
    return PathFact(
        typed=target.value,
        real=path.real,
        access="write" if is_write else "read",
        outside=not (found.inside or is_own_output),
        secret=None if is_own_output else found.secret,
        protected=found.protected,
        forbidden=(found.own or found.special) if is_write else None,
        lexical=path.lexical,
    )


def _shell_place(
    target: Target, workspace: Workspace, shell: ShellInfo, *, trusted: bool
) -> shell_analysis.ShellContext:
    cwd = shell.directory or workspace.root
    if target.base:
        try:
            cwd = workspace.resolve(target.base).real
        except PathProblem as problem:
            raise ToolFailure(f"{problem}.", type=FailureType.VALIDATION) from problem
    roots = (workspace.root, *workspace.added)
    is_plain = not shell.altered_by
    place = shell_analysis.ShellContext(
        cwd, roots, workspace.home, shell_is_plain=is_plain, trusted=trusted
    )
    return shell_analysis.place_on_disk(place) if workspace.on_disk else place


async def _analyse(
    command: str, place: shell_analysis.ShellContext, workspace: Workspace
) -> shell_analysis.ShellFacts:
    """The analysis of a command; what it looks up on disk, and asks git, it does in a thread."""
    if not workspace.on_disk:
        return shell_analysis.analyse(command, place)
    probe = cache(lambda directory: git_is_plain(directory)[0])
    place = replace(place, probe_git=probe, git_shows=cache(shown_paths))
    return await asyncio.to_thread(shell_analysis.analyse, command, place)


def _names(found: shell_analysis.ShellFacts) -> frozenset[str]:
    return frozenset(command.argv[0] for command in found.commands if command.argv)


def _find_shadowed(found: shell_analysis.ShellFacts, programs: tuple[str, ...]) -> frozenset[str]:
    """Names among the commands that would run a program of the project instead of the system's."""
    return frozenset(
        name
        for name in (_names(found) if programs else ())
        if any(
            os.path.lexists(f"{place}/{each}")
            for place in programs
            for each in (name, *shell_analysis.starts().get(name, ()))
            if "/" not in each
        )
    )


def _with_command(
    facts: Facts, found: shell_analysis.ShellFacts, shadowed: frozenset[str]
) -> Facts:
    """The facts with those of a shell command added."""
    doubts = found.unproven + tuple(
        because("project_program", name=name) for name in sorted(shadowed)
    )
    return replace(
        facts,
        commands=facts.commands
        + tuple(
            CommandFact(
                each.argv,
                is_proven=not each.unproven and shadowed.isdisjoint(each.argv[:1]),
                is_known=each.known,
                text=each.text,
                level=each.level,
            )
            for each in found.commands
        ),
        paths=facts.paths
        + tuple(PathFact(path, path, "read") for path in found.reads)
        + tuple(PathFact(path, path, "write") for path in found.writes),
        sensitive=facts.sensitive + found.sensitive,
        unproven=facts.unproven + doubts,
        needs_sandbox=facts.needs_sandbox + found.needs_sandbox,
        trees=facts.trees + found.trees,
        unresolved=facts.unresolved or found.unresolved,
        dangers=facts.dangers + found.dangers,
        catastrophic=facts.catastrophic + found.catastrophic,
        destroys=facts.destroys + found.destroys,
        touches_network=facts.touches_network or found.touches_network,
        needs_permission=facts.needs_permission or bool(doubts),
    )
