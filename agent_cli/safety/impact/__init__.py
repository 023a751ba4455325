"""The blast radius: what a destructive command would touch, counted before it runs."""

from agent_cli.safety.impact.count import blast_radius
from agent_cli.safety.impact.impact_summary import Impact, Note, Touched

__all__ = ["Impact", "Note", "Touched", "blast_radius"]
