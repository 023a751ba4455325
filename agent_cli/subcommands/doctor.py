"""`agent doctor`: looks at everything the program depends on, and says what to do."""

import argparse
import asyncio
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from agent_cli.core.errors import ExitCode
from agent_cli.doctor._check import Check, Finding, Patient
from agent_cli.doctor.examination import all_checks, examine
from agent_cli.lib import language
from agent_cli.lib.cells import padded
from agent_cli.lib.language import tr, trn
from agent_cli.safety.redact import Redactor
from agent_cli.safety.sanitise import visible

_SIGNS = {"ok": "ok", "warning": "! ", "problem": "!!", "skipped": "- "}
_COLUMN = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `agent doctor`."""
    parser.epilog = tr("Exit codes: 0 nothing keeps the program from working, 1 something does.")
    parser.add_argument("--json", action="store_true", help=tr("one JSON object"))
    parser.add_argument("--offline", action="store_true", help=tr("make no request to the model"))


def run(options: argparse.Namespace) -> int:
    """Examine, tell, and say by the exit code whether all is well."""
    if options.json:
        language.use(language.SOURCE)
    patient = Patient(
        environment=dict(os.environ),
        cwd=Path.cwd(),
        offline=options.offline,
        is_terminal=sys.stdin.isatty() and sys.stdout.isatty() and not options.json,
    )
    return asyncio.run(_tell(patient, is_json=options.json))


async def _tell(patient: Patient, *, is_json: bool) -> int:
    findings: list[tuple[Check, Finding]] = []
    redact = Redactor.from_environment(patient.environment).redact
    group = ""
    async for check, found in examine(all_checks(), patient):
        findings.append((check, found))
        if not is_json:
            heading = "" if check.group == group else f"\n{tr(check.group).capitalize()}\n"
            sys.stdout.write(heading + redact(_text(check, found)))
            sys.stdout.flush()
        group = check.group
    verdicts = [found.verdict for _, found in findings]
    if is_json:
        sys.stdout.write(f"{redact(_json(findings))}\n")
    else:
        problems = trn("{n:,} problem", "{n:,} problems", verdicts.count("problem"))
        warnings = trn("{n:,} warning", "{n:,} warnings", verdicts.count("warning"))
        told = f"{problems}, {warnings}"
        sys.stdout.write(f"\n{told}\n")
    return ExitCode.FAILED if "problem" in verdicts else ExitCode.DONE


def _text(check: Check, found: Finding) -> str:
    name = padded(tr(check.name), _COLUMN)
    lines = [f"{_SIGNS[found.verdict]} {name} {_line(found.measured)}"]
    told = (
        (tr("expected"), found.expected),
        (tr("because"), found.cause),
        (tr("to do"), found.remedy),
    )
    lines += [f"   {padded(label, _COLUMN)} {_line(text)}" for label, text in told if text]
    return "".join(f"{line}\n" for line in lines)


def _json(findings: list[tuple[Check, Finding]]) -> str:
    listed = [
        {"group": check.group, "name": check.name, **asdict(found)} for check, found in findings
    ]
    is_well = all(found.verdict != "problem" for _, found in findings)
    return json.dumps({"ok": is_well, "checks": listed}, ensure_ascii=False)


def _line(text: str) -> str:
    return visible(text, one_line=True)
