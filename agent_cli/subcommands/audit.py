"""`agent audit`: what was run, by whose permission, and how it ended."""

import argparse
import json
import os
from collections import deque
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agent_cli.config.user_directories import Directories
from agent_cli.core.errors import UserError
from agent_cli.lib.cells import pad
from agent_cli.lib.language import mark, tr
from agent_cli.safety.sanitise import visible
from agent_cli.safety.terminal import write_err, write_out
from agent_cli.storage.audit_log import read_records
from agent_cli.subcommands._moment import moment

FAILURES = {
    "validation": mark("validation"), "execution": mark("execution"),
    "permission": mark("permission"), "timeout": mark("timeout"),
    "cancelled": mark("cancelled"), "unknown": mark("unknown"), "failed": mark("failed"),
}  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `agent audit`."""
    parser.add_argument("--session", metavar="ID", help=tr("only this session"))
    parser.add_argument("--tool", metavar="NAME", help=tr("only this tool"))
    parser.add_argument(
        "--decision",
        choices=("allow", "ask", "deny", "none"),
        help=tr("only calls with this decision"),
    )
    parser.add_argument(
        "--since",
        metavar="WHEN",
        help=tr("entries since 30m, 12h or 2d ago, or since 2026-01-31"),
    )
    parser.add_argument("--failed", action="store_true", help=tr("only calls that failed"))
    parser.add_argument("--json", action="store_true", help=tr("one JSON object per line"))
    parser.add_argument("-n", metavar="N", type=int, default=50, help=tr("the last N (50); 0: all"))


def run(options: argparse.Namespace) -> int:
    """Show the records that fit, newest last."""
    since = moment(options.since) if options.since else None
    path = Directories.of(os.environ).state / "audit.jsonl"
    fitting = (record for record in read_records(path) if _fits(record, options, since))
    try:
        shown = deque(fitting, maxlen=options.n if options.n > 0 else None)
    except OSError as error:
        why = error.strerror or error
        raise UserError(tr("{path} cannot be read: {reason}.", path=path, reason=why)) from error
    for record in shown:
        line = json.dumps(record) if options.json else _line(record)
        write_out(f"{line}\n")
    if not shown and not options.json:
        write_err(tr("No matching entries in {path}.", path=path) + "\n")
    return 0


def _fits(record: Mapping[str, Any], options: argparse.Namespace, since: datetime | None) -> bool:
    return (
        (options.session is None or str(record.get("session_id", "")).startswith(options.session))
        and (options.tool is None or str(record.get("tool", "")).lower() == options.tool.lower())
        and (options.decision is None or record.get("decision") == options.decision)
        and not (options.failed and record.get("success"))
        and (since is None or _is_later(record, since))
    )


def _is_later(record: Mapping[str, Any], since: datetime) -> bool:
    try:
        return datetime.fromisoformat(str(record.get("time"))) >= since
    except (ValueError, TypeError):
        return False


def _line(record: Mapping[str, Any]) -> str:
    """time  session  tool  decision  outcome  seconds  what"""
    try:
        when = datetime.fromisoformat(str(record.get("time"))).astimezone()
        time = when.strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        time = "?"
    seconds = record.get("seconds")
    took = tr("{seconds:.2f} s", seconds=seconds) if isinstance(seconds, int | float) else "?"
    targets = record.get("targets")
    what = "; ".join(map(str, targets)) if isinstance(targets, list) else ""
    columns = (
        f"{time:<19}",
        f"{str(record.get('session_id', '?'))[:12]:<12}",
        f"{record.get('tool', '?')!s:<10}",
        pad(_describe_decision(record), 14),
        pad(_outcome(record), 10),
        pad(took, 9, right=True),
        what if len(what) <= 200 else f"{what[:200]}…",
    )
    return visible("  ".join(columns), one_line=True).rstrip()


def _describe_decision(record: Mapping[str, Any]) -> str:
    """The decision and who gave it: a rule, the user, or what is known of the call."""
    if record.get("by") == "person":
        return tr("own")
    decision = str(record.get("decision", "?"))
    if answer := record.get("answer"):
        return f"{decision}: {answer}"
    return tr("{decision} (rule)", decision=decision) if record.get("rule") else decision


def _outcome(record: Mapping[str, Any]) -> str:
    code = record.get("exit_code")
    if isinstance(code, int):
        return tr("exit {code}", code=code)
    if record.get("success"):
        return tr("ok")
    failure = str(record.get("error", "failed"))
    return tr(FAILURES.get(failure, failure))
