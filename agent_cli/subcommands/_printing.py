"""Lines on the terminal, and a question there."""

import sys

from agent_cli.core.errors import UserError
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import visible
from agent_cli.safety.terminal import write_err, write_out

YES = ("y", "yes", "是")


def say(*lines: str) -> None:
    """Print lines, with nothing in them that acts on the terminal."""
    for line in lines:
        write_out(f"{visible(line, one_line=True).rstrip()}\n")


def warn(*warnings: str) -> None:
    """Print warnings to standard error."""
    for warning in warnings:
        shown = visible(warning, one_line=True)
        write_err(tr("warning: {warning}", warning=shown) + "\n")


def confirm(question: str, cannot: str, hint: str) -> bool:
    """Ask on the terminal; everything but a clear yes is a no. Raises UserError without one."""
    if not sys.stdin.isatty():
        raise UserError(cannot, hint=hint)
    write_out(question)
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in YES
