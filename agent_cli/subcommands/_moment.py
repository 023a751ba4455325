"""Points in time as people write them."""

import re
from datetime import UTC, datetime, timedelta

from agent_cli.core.errors import UserError
from agent_cli.lib.language import tr

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(text: str) -> datetime:
    """`2d` is two days ago; otherwise a date or a time, here if no zone is given."""
    if found := re.fullmatch(r"(\d{1,6})([smhdw])", text):
        return datetime.now(UTC) - timedelta(**{UNITS[found[2]]: int(found[1])})
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError as error:
        raise UserError(
            tr("{text!r} is not a time.", text=text),
            hint=tr("Write 30m, 12h, 2d, 1w or 2026-01-31T12:00."),
        ) from error
