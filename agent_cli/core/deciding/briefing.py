"""What a person is told about a call before it runs."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent_cli.core.inbox import Step
from agent_cli.core.permissions import CommandFact, Facts
from agent_cli.core.tool import Target
from agent_cli.lib.language import tr
from agent_cli.lib.text import listed, size
from agent_cli.safety.blast import BlastRadius, blast_radius
from agent_cli.safety.blast.names import printable, shown
from agent_cli.safety.blast.radius import MODES, OWNERS
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
    undo: str


async def brief(
    facts: Facts,
    targets: Sequence[Target],
    workspace: Workspace,
    environment: Mapping[str, str],
    room: int,
) -> Briefing:
    """Look at what the call would touch; changes nothing and takes a fraction of a second.

    `room` is how many bytes can be kept for an undo.
    """
    radius = await blast_radius(facts.destroys, workspace, seconds=SECONDS, environment=environment)
    warnings = (warning for target in targets for warning in oddities(target.value))
    return Briefing(
        consequences=radius.lines(),
        steps=tuple(_steps(facts.commands, radius))[:_MOST_STEPS],
        resolved=tuple(dict.fromkeys(_resolved(facts, workspace))),
        odd=tuple(dict.fromkeys(warnings)),
        network=facts.touches_network or bool(facts.hosts),
        undo=_undo(radius, room),
    )


def _undo(radius: BlastRadius, room: int) -> str:
    """What of it will be kept for an undo."""
    lost = [each for each in radius.touched if each.files and each.verb not in {MODES, OWNERS}]
    files, weight = sum(each.files for each in lost), sum(each.bytes for each in lost)
    if not files:
        return ""
    if not room:
        return tr("nothing is kept: it cannot be taken back")
    if weight > room:
        return tr("{size} is more than can be kept: it cannot be taken back", size=size(weight))
    if any(each.at_least for each in lost):
        return tr("what it touches will be kept for /undo as far as there is room")
    if files == 1:
        return tr("the file will be kept for /undo")
    return tr("all {n:,} files will be kept for /undo", n=files)


def _steps(commands: Sequence[CommandFact], radius: BlastRadius) -> Iterator[Step]:
    """Each command as it is written; one inside another only if it says what it does."""
    for command in commands:
        counted = radius.of(command.argv)
        if command.level and not counted:
            continue
        yield Step(
            text=printable(command.text), note=listed(counted) if counted else _note(command)
        )


def _note(command: CommandFact) -> str:
    if command.is_proven:
        return tr("changes nothing")
    return "" if command.is_known else tr("some words are only known when it runs")


def _resolved(facts: Facts, workspace: Workspace) -> Iterator[str]:
    """Where paths really lead, for those that lead elsewhere than they say."""
    for path in facts.paths:
        typed, real = path.lexical or path.typed, os.path.realpath(path.real)
        if typed != real:
            yield f"{shown(typed, workspace)} → {shown(real, workspace)}"
