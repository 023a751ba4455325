"""What a pipe or a substitution prints, when that can be told from its words."""

import base64
import binascii

from agent_cli.safety.shell.found import FoundCommand
from agent_cli.safety.shell.lenient_words import MAX_VALUE_CHARS, UNKNOWN, printed_text


def substituted_text(last: FoundCommand | None, count: int) -> str:
    """What a substitution of `count` commands prints, when they are one pipe of known text."""
    each, length = last, 0
    while each is not None:
        each, length = each.piped_from, length + 1
    text = piped_text(last) if length == count else None
    return UNKNOWN if text is None else text[:MAX_VALUE_CHARS]


def piped_text(found: FoundCommand | None, depth: int = 0) -> str | None:
    """What a pipe delivers, when its start is known text and its parts only decode it."""
    if found is None or not found.argv or depth > 8:
        return None
    name = found.argv[0].rpartition("/")[2]
    if name in {"echo", "printf"}:
        return printed_text((name, *found.argv[1:]))
    if name == "cat" and found.stdin not in {None, UNKNOWN} and len(found.argv) == 1:
        return found.stdin
    text = (
        found.stdin
        if found.stdin not in {None, UNKNOWN}
        else piped_text(found.piped_from, depth + 1)
    )
    if text is None:
        return None
    try:
        if name == "base64" and {"-d", "-D", "--decode"} & set(found.argv):
            return base64.b64decode(text.strip()).decode("utf-8", "replace")
        if name == "xxd" and any("r" in word for word in found.argv[1:]):
            return binascii.unhexlify("".join(text.split())).decode("utf-8", "replace")
    except ValueError:
        return None
    if name == "rev":
        return "\n".join(line[::-1] for line in text.split("\n"))
    return text if name in {"tee", "cat"} else None
