"""`agent doctor`: checks everything the program depends on, and suggests fixes."""

import argparse
import asyncio
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from agent_cli.core.errors import ExitCode
from agent_cli.doctor._check import Check, CheckContext, Finding
from agent_cli.doctor.examination import all_checks, examine
from agent_cli.lib.cells import pad
from agent_cli.lib.language import SOURCE, tr, trn, use
from agent_cli.safety.redact import Redactor
from agent_cli.safety.sanitise import visible
from agent_cli.safety.terminal import write_data, write_out

_SIGNS = {"ok": "ok", "warning": "! ", "problem": "!!", "skipped": "- "}
_COLUMN = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `agent doctor`."""
    parser.epilog = tr("Exit codes: 0 no problems, 1 something keeps the program from working.")
    parser.add_argument("--json", action="store_true", help=tr("print one JSON object"))
    parser.add_argument("--offline", action="store_true", help=tr("don't contact the model"))


def run(options: argparse.Namespace) -> int:
    """Run every check; the exit code says whether all is well."""
    if options.json:
        use(SOURCE)  # programs read it
    patient = CheckContext(
        environment=dict(os.environ),
        cwd=Path.cwd(),
        offline=options.offline,
        is_terminal=sys.stdin.isatty() and sys.stdout.isatty() and not options.json,
    )
    return asyncio.run(_tell(patient, is_json=options.json))


async def _tell(patient: CheckContext, *, is_json: bool) -> int:
    findings: list[tuple[Check, Finding]] = []
    redact = Redactor.from_environment(patient.environment).redact
    group = ""
    async for check, found in examine(all_checks(), patient):
        findings.append((check, found))
        if not is_json:
            heading = "" if check.group == group else f"\n{tr(check.group).capitalize()}\n"
            write_out(heading + redact(_text(check, found)))
            sys.stdout.flush()
        group = check.group
    verdicts = [found.verdict for _, found in findings]
    if is_json:
        write_data(f"{redact(_json(findings))}\n")
    else:
        problems = trn("{n:,} problem", "{n:,} problems", verdicts.count("problem"))
        warnings = trn("{n:,} warning", "{n:,} warnings", verdicts.count("warning"))
        write_out(f"\n{problems}, {warnings}\n")
    return ExitCode.FAILED if "problem" in verdicts else ExitCode.DONE


def _text(check: Check, found: Finding) -> str:
    name = pad(tr(check.name), _COLUMN)
    lines = [f"{_SIGNS[found.verdict]} {name} {_line(found.measured)}"]
    told = ((tr("expected"), found.expected), (tr("cause"), found.cause), (tr("fix"), found.remedy))
    lines += [f"   {pad(label, _COLUMN)} {_line(text)}" for label, text in told if text]
    return "".join(f"{line}\n" for line in lines)


def _json(findings: list[tuple[Check, Finding]]) -> str:
    listed = [
        {"group": check.group, "name": check.name} | asdict(found) for check, found in findings
    ]
    is_well = all(found.verdict != "problem" for _, found in findings)
    return json.dumps({"ok": is_well, "checks": listed}, ensure_ascii=False)


def _line(text: str) -> str:
    return visible(text, one_line=True)
