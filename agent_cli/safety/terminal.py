"""The one way to standard output and standard error: nothing written there acts on a terminal."""

import sys

from agent_cli.safety.oddities import visible
from agent_cli.safety.sanitise import clean


def write_out(text: str) -> None:
    """Text for a person; what would act on the terminal is spelled out."""
    sys.stdout.write(visible(text))


def write_err(text: str) -> None:
    """The same on standard error."""
    sys.stderr.write(visible(text))


def write_data(text: str) -> None:
    """Data for a program or a file, byte for byte, unless a terminal would get it."""
    sys.stdout.write(clean(text) if sys.stdout.isatty() else text)
