"""The question about a call: everything the user needs to know before it runs."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from agent_cli.core.deciding.offer import offered_rules
from agent_cli.core.deciding.rules import CommandFact, Facts
from agent_cli.core.display import Display, TerminalBlock
from agent_cli.core.inbox import ApprovalRequest, Step
from agent_cli.core.policy import Decision, Policy
from agent_cli.core.tool import Invocation
from agent_cli.core.tool_context import ShellInfo, ToolContext
from agent_cli.lib.text import size
from agent_cli.safety.impact import Impact, blast_radius
from agent_cli.safety.impact.impact_summary import MODES, OWNERS
from agent_cli.safety.impact.short_names import printable, short_path
from agent_cli.safety.paths import Workspace
from agent_cli.safety.reasons import Reason, because
from agent_cli.safety.sandbox import Profile, Tier
from agent_cli.safety.sanitise import oddities

TIMEOUT_S = 0.3
"""For counting what it would touch: nobody who waits for the question notices this."""
_MAX_STEPS = 100
MISSING = "missing"
"""In place of a tier: no sandbox works on this machine."""


async def approval_request(
    id: str,
    invocation: Invocation[Any],
    context: ToolContext,
    facts: Facts,
    decision: Decision,
    policy: Policy,
    *,
    undo_room: int = 0,
    agent: str = "",
) -> ApprovalRequest:
    """Look at what the call would touch; changes nothing and takes a fraction of a second.

    `undo_room` is how many bytes can be kept for an undo.
    """
    tool, params, session = invocation.tool, invocation.params, context.session
    targets = tuple(dict.fromkeys(target.value for target in invocation.targets))
    radius = await blast_radius(
        facts.destroys, session.workspace, seconds=TIMEOUT_S, environment=session.environment
    )
    rules = offered_rules(invocation, facts, policy)
    return ApprovalRequest(
        id=id,
        call_id=context.call_id,
        tool=tool.display_name,
        title=invocation.title,
        reasons=decision.reasons,
        codes=tuple(reason.code for reason in decision.reasons),
        targets=targets,
        preview=await tool.preview(params, context) if tool.preview else _command(invocation),
        description=str(getattr(params, "description", "") or ""),
        consequences=radius.lines(),
        steps=tuple(_steps(facts.commands, radius))[:_MAX_STEPS],
        resolved=tuple(dict.fromkeys(_describe_links(facts, session.workspace))),
        odd=tuple(dict.fromkeys(warning for text in targets for warning in oddities(text))),
        undo=_undo(radius, undo_room),
        network=facts.touches_network or bool(facts.hosts),
        directory=context.state(ShellInfo).directory or session.workspace.root,
        sandbox=await _sandbox(invocation, context, decision, policy),
        rule=", ".join(rules) or None,
        rules=rules,
        agent=agent,
    )


def _command(invocation: Invocation[Any]) -> Display | None:
    """The command of a call that is about one, as it will run."""
    for target in invocation.targets:
        if target.kind == "command":
            return TerminalBlock(command=target.value, output="")
    return None


def _steps(commands: Sequence[CommandFact], radius: Impact) -> Iterator[Step]:
    """Each command as it is written; one inside another only if it says what it does."""
    for command in commands:
        counted = radius.of(command.argv)
        if command.level and not counted:
            continue
        yield Step(text=printable(command.text), note=counted or _note(command))


def _note(command: CommandFact) -> tuple[Reason, ...]:
    if command.is_proven:
        return (because("changes_nothing"),)
    return () if command.is_known else (because("runtime_value"),)


def _describe_links(facts: Facts, workspace: Workspace) -> Iterator[str]:
    """Where paths really lead, for those that lead elsewhere than they say."""
    for path in facts.paths:
        typed, real = path.lexical or path.typed, os.path.realpath(path.real)
        if typed != real:
            yield f"{short_path(typed, workspace)} → {short_path(real, workspace)}"


def _undo(radius: Impact, room: int) -> Reason | None:
    """What of it will be kept for an undo; None where there is nothing to keep."""
    lost = [each for each in radius.touched if each.files and each.verb not in {MODES, OWNERS}]
    files, weight = sum(each.files for each in lost), sum(each.bytes for each in lost)
    if not files:
        return None
    if not room:
        return because("undo_keeps_nothing")
    if weight > room:
        return because("undo_too_large", size=size(weight))
    if any(each.at_least for each in lost):
        return because("undo_keeps_some")
    return because("undo_keeps", n=files)


async def _sandbox(
    invocation: Invocation[Any], context: ToolContext, decision: Decision, policy: Policy
) -> str:
    """What would confine the call if it ran as it was decided about."""
    if not invocation.tool.runs_in_shell:
        return Tier.NONE.value
    sandbox = await context.session.sandbox.get()
    if not sandbox.confines:
        return MISSING
    profile = decision.confined or (Profile.WORKSPACE if policy.confine_approved else None)
    return sandbox.for_profile(profile).tier.value if profile else Tier.NONE.value
