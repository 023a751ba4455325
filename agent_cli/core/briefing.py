"""What a person is told about a call before it runs."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent_cli.core.inbox import Step
from agent_cli.core.permissions import CommandFact, Facts
from agent_cli.core.tool import Target
from agent_cli.safety.blast import BlastRadius, blast_radius
from agent_cli.safety.blast.names import printable, shown
from agent_cli.safety.paths import Workspace
from agent_cli.safety.sanitise import oddities

SECONDS = 0.3
"""A person who waits for the question does not notice this."""
_MOST_STEPS = 100


@dataclass(frozen=True)
class Briefing:
    """The consequences of a call, in words."""

    consequences: tuple[str, ...]
    steps: tuple[Step, ...]
    resolved: tuple[str, ...]
    odd: tuple[str, ...]
    network: bool


async def brief(
    facts: Facts,
    targets: Sequence[Target],
    workspace: Workspace,
    environment: Mapping[str, str],
) -> Briefing:
    """Look at what the call would touch; changes nothing and takes a fraction of a second."""
    radius = await blast_radius(facts.destroys, workspace, seconds=SECONDS, environment=environment)
    warnings = (warning for target in targets for warning in oddities(target.value))
    return Briefing(
        consequences=radius.lines(),
        steps=tuple(_steps(facts.commands, radius))[:_MOST_STEPS],
        resolved=tuple(dict.fromkeys(_resolved(facts, workspace))),
        odd=tuple(dict.fromkeys(warnings)),
        network=facts.touches_network or bool(facts.hosts),
    )


def _steps(commands: Sequence[CommandFact], radius: BlastRadius) -> Iterator[Step]:
    """Each command as it is written; one inside another only if it says what it does."""
    for command in commands:
        counted = radius.of(command.argv)
        if command.level and not counted:
            continue
        yield Step(text=printable(command.text), note="; ".join(counted) or _note(command))


def _note(command: CommandFact) -> str:
    if command.is_proven:
        return "changes nothing"
    return "" if command.is_known else "some words are only known when it runs"


def _resolved(facts: Facts, workspace: Workspace) -> Iterator[str]:
    """Where paths really lead, for those that lead elsewhere than they say."""
    for path in facts.paths:
        typed, real = path.lexical or path.typed, os.path.realpath(path.real)
        if typed != real:
            yield f"{shown(typed, workspace)} → {shown(real, workspace)}"
