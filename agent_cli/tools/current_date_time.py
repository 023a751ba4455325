"""Tells what time it is."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from pydantic import JsonValue

from agent_cli.core.tool import Description, StatusTexts, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.language import mark, tr
from agent_cli.tools._aliases import names

LOCAL_TIME = Path("/etc/localtime")

_WEEKDAYS = (
    mark("Monday"), mark("Tuesday"), mark("Wednesday"), mark("Thursday"), mark("Friday"),
    mark("Saturday"), mark("Sunday"),
)  # fmt: skip
_MONTHS = (
    mark("January"), mark("February"), mark("March"), mark("April"), mark("May"), mark("June"),
    mark("July"), mark("August"), mark("September"), mark("October"), mark("November"),
    mark("December"),
)  # fmt: skip


async def run(_params: ToolParams, context: ToolContext) -> ToolResult:
    """The time now, on this machine's clock."""
    now = datetime.now().astimezone()
    told = describe(now, zone_name(now, context.session.environment))
    return ToolResult(
        llm_content=f"{told['iso']} ({told['full']}; Unix time {told['unix']})",
        summary=_in_words(now, str(told["timezone"])),
        metadata=told,
    )


def describe(now: datetime, zone: str) -> dict[str, JsonValue]:
    """A moment in every usual form, in English."""
    date = f"{now:%A}, {now.day} {now:%B %Y}"
    time = f"{now:%H:%M:%S}"
    return {
        "iso": now.isoformat(timespec="seconds"),
        "unix": int(now.timestamp()),
        "timezone": zone,
        "utc_offset": f"{now:%z}",
        "date": date,
        "time": time,
        "full": f"{date}, {time} {zone}",
    }


def _in_words(now: datetime, zone: str) -> str:
    return tr(
        "{weekday}, {day} {month} {year}, {time} {zone}",
        weekday=tr(_WEEKDAYS[now.weekday()]),
        day=now.day,
        month=tr(_MONTHS[now.month - 1]),
        year=now.year,
        time=f"{now:%H:%M:%S}",
        zone=zone,
    )


def zone_name(now: datetime, environment: Mapping[str, str]) -> str:
    """The time zone's name as people know it (Europe/Berlin), or else its short form (CET)."""
    named = environment.get("TZ", "").removeprefix(":")
    if "/" in named and not named.startswith("/"):
        return named
    if not named:
        try:
            _, known, name = str(LOCAL_TIME.readlink()).partition("zoneinfo/")
        except OSError:
            known = name = ""
        if known and name != "localtime":
            return name
    return now.tzname() or "UTC"


TOOL = Tool(
    name="CurrentDateTime",
    kind=ToolKind.READONLY,
    params=ToolParams,
    run=run,
    description=Description.beside(__file__),
    display_name=mark("Current date and time"),
    aliases=names(
        "date now current_time current_date get_current_time get_current_date "
        "get_current_date_time get_date_time get_time get_date"
    ),
    category="environment",
    status=StatusTexts(mark("Checking the time…"), mark("Current date and time failed")),
)
