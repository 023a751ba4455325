"""Moments in words."""

from datetime import datetime

from agent_cli.lib.language import tr, trn


def ago(then: float, now: float) -> str:
    """How long ago a moment was, as one would say it; after two weeks, the date."""
    seconds = max(0.0, now - then)
    if seconds < 60:
        return tr("just now")
    if seconds >= 14 * 86_400:
        return datetime.fromtimestamp(then).astimezone().strftime("%Y-%m-%d")
    minutes = int(seconds // 60)
    if minutes < 60:
        return trn("{n} minute ago", "{n} minutes ago", minutes)
    if minutes < 24 * 60:
        return trn("{n} hour ago", "{n} hours ago", minutes // 60)
    return trn("{n} day ago", "{n} days ago", minutes // (24 * 60))
