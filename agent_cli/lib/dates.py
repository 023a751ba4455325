"""Moments in words."""

from datetime import datetime

_STEPS = ((60, "minute"), (3600, "hour"), (86_400, "day"))


def ago(then: float, now: float) -> str:
    """How long ago a moment was, as one would say it; after two weeks, the date."""
    seconds = max(0.0, now - then)
    if seconds < 60:
        return "just now"
    if seconds >= 14 * 86_400:
        return datetime.fromtimestamp(then).astimezone().strftime("%Y-%m-%d")
    size, unit = next(step for step in reversed(_STEPS) if seconds >= step[0])
    count = int(seconds // size)
    return f"{count} {unit}{'' if count == 1 else 's'} ago"
