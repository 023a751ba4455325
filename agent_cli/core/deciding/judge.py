"""The decision about a call in its place: what the pipeline obeys and `agent check` explains."""

from dataclasses import dataclass
from typing import Any

from agent_cli.core.deciding.facts import gather, second_opinion
from agent_cli.core.permissions import Decision, Effect, Facts, Policy
from agent_cli.core.tool import Invocation
from agent_cli.core.tool_context import ShellStanding
from agent_cli.safety.paths import Workspace


@dataclass(frozen=True)
class Judgement:
    """What was found out about a call, and what follows from it."""

    facts: Facts
    decision: Decision


async def judge(
    invocation: Invocation[Any], workspace: Workspace, shell: ShellStanding, policy: Policy
) -> Judgement:
    """Gather the facts and decide; nothing is allowed that bash itself would read otherwise."""
    facts = await gather(invocation, workspace, shell, trusted=policy.trusted)
    decision = policy.decide(facts)
    if decision.effect is Effect.ALLOW:
        facts = await second_opinion(invocation, facts)
        decision = policy.decide(facts)
    return Judgement(facts, decision)
