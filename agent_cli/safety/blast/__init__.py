"""The blast radius: what a destructive command would touch, counted before it runs."""

from agent_cli.safety.blast.count import blast_radius
from agent_cli.safety.blast.radius import BlastRadius, Note, Touched

__all__ = ["BlastRadius", "Note", "Touched", "blast_radius"]
