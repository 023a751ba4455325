"""Figures and sentences as users read them."""

from typing import TYPE_CHECKING

from agent_cli.lib.cells import width_of
from agent_cli.lib.language import tr
from agent_cli.safety.reasons import in_words

if TYPE_CHECKING:
    from agent_cli.core.tool import ToolError


def failure(error: "ToolError") -> str:
    """Why a call failed: a refusal in the language of the interface, else the tool's own words."""
    if error.declined:
        return tr("You said no: {words}", words=error.words) if error.words else tr("You said no.")
    if error.reasons:
        return tr("Blocked: {why}", why="; ".join(map(in_words, error.reasons)))
    return error.message


def duration(seconds: float, *, tenths: bool = True) -> str:
    """ "0.1 s", "12 s", "2 min 05 s"."""
    if tenths and seconds < 9.95:
        return tr("{seconds:.1f} s", seconds=seconds)
    whole = round(seconds) if tenths else int(seconds)
    if whole < 60:
        return tr("{seconds} s", seconds=whole)
    return tr("{minutes} min {seconds:02} s", minutes=whole // 60, seconds=whole % 60)


def rough(count: int) -> str:
    """ "950", "1.9 k", "1.2 M"."""
    if count < 1_000:
        return str(count)
    if count < 999_950:
        return f"{count / 1_000:.1f} k"
    return f"{count / 1_000_000:.1f} M"


def beginning(text: str, columns: int) -> str:
    """As much of a text as so many columns of a terminal can show."""
    if width_of(text) <= columns:
        return text
    end = next(at for at in range(columns - 1, -1, -1) if width_of(text[:at]) < columns)
    return f"{text[:end]}…"


def sentences(first: str, second: str) -> str:
    """One after the other; either may be empty."""
    return " ".join(filter(None, (first, second)))


def number_of(number: int, total: int) -> str:
    """ "1 of 2"."""
    return tr("{number} of {total}", number=number, total=total)
