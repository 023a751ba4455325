"""What is learnt on the way to a proof."""

from dataclasses import dataclass, field

from agent_cli.safety.reasons import Reason
from agent_cli.safety.shell.shell_facts import SimpleCommand


@dataclass
class Proof:
    """What was learnt on the way."""

    unproven: list[Reason] = field(default_factory=list)
    sensitive: list[Reason] = field(default_factory=list)
    needs_sandbox: list[Reason] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    trees: list[str] = field(default_factory=list)
    commands: list[SimpleCommand] = field(default_factory=list)
    unresolved: bool = False
    has_values: bool = False
    """Words of it came from variables, loops or the output of commands."""


class ProofNotes:
    """Takes down why there is no proof, for the whole and for each command being looked at."""

    def __init__(self) -> None:
        self.proof = Proof()
        self.open: list[list[Reason]] = []
        """The reasons of each command that is being looked at, the outermost first."""

    def unproven(self, reason: Reason) -> None:
        for found in (self.proof.unproven, *self.open):
            if reason not in found:
                found.append(reason)

    def mark_unresolved(self, reason: Reason) -> None:
        self.proof.unresolved = True
        self.unproven(reason)

    def sensitive(self, reason: Reason) -> None:
        if reason not in self.proof.sensitive:
            self.proof.sensitive.append(reason)
        self.unproven(reason)

    def doubt(self, reason: Reason) -> None:
        for found in (self.proof.needs_sandbox, *self.open):
            if reason not in found:
                found.append(reason)
