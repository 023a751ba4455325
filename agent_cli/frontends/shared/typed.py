"""Text that was typed or pasted, before it stands in a prompt."""

import re

from agent_cli.safety import characters as ch
from agent_cli.safety.sanitise import for_model

_BIDI = re.compile(f"[{ch.BIDI}]")
MENTIONED = re.compile(r'(?:^|(?<=\s))@("?)([^\s"]*)$')
"""A file that is being mentioned, in the line up to the caret; its second group is the name."""


def clean_paste(text: str) -> str:
    """A paste as it is sent: usual line ends, nothing hidden."""
    return for_model(text.replace("\r\n", "\n").replace("\r", "\n"))[0]


def fit(text: str) -> str:
    """Text for a prompt that would send controls on to the terminal."""
    return _BIDI.sub("", clean_paste(text))


def mention(name: str) -> str:
    """A file's name as it is mentioned."""
    return f'@"{name}"' if re.search(r'[\s"]', name) else f"@{name}"
