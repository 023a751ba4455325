"""What is told of a command: to the model, and to the user."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from pydantic import JsonValue

from agent_cli.core.display import TerminalBlock
from agent_cli.core.errors import FailureType
from agent_cli.core.tool import ToolError, ToolResult
from agent_cli.lib.language import mark, tr, trn
from agent_cli.tools._shell.background_jobs import Job
from agent_cli.tools._shell.shell_command import ShellCommand


def ended_result(
    command: ShellCommand,
    *,
    cwd: str,
    moved: bool = False,
    note: str = "",
    leftover: Job | None = None,
) -> ToolResult:
    """The result of a command whose shell has ended."""
    code = command.exit_code or 0
    how, figures = how_it_ended(command)
    remarks = [note] if note else []
    if code:
        remarks.append(how)
    if moved:
        remarks.append(f"the directory is now {cwd}")
    if leftover:
        remarks.append(
            f"what it started in the background is still running as job {leftover.id}: "
            "read it with BashOutput, stop it with KillShell"
        )
    parts = [figures]
    if command.output.size:
        parts.append(trn("{n:,} line", "{n:,} lines", command.output.lines))
    if leftover:
        parts.append(tr("{job} still running", job=leftover.id))
    return ToolResult(
        success=code == 0,
        llm_content=_describe(command, remarks, leftover),
        display=(_block(command),),
        summary=" · ".join(parts),
        error=ToolError(type=FailureType.EXECUTION, message=figures) if code else None,
        metadata=_metadata(command, cwd=cwd, job_id=leftover.id if leftover else None),
    )


def timeout_result(command: ShellCommand, seconds: float) -> ToolResult:
    """The result of a command that was stopped because its time was up."""
    how = tr("timed out after {seconds:g} s", seconds=seconds)
    hint = "set a longer timeout (at most 600000) or run it in the background"
    return ToolResult(
        success=False,
        llm_content=_describe(command, [f"timed out after {seconds:g} s", hint]),
        display=(_block(command),),
        summary=how,
        error=ToolError(type=FailureType.TIMEOUT, message=how, details=hint),
        metadata=_metadata(command),
    )


def in_background(job: Job, *, at_once: bool) -> ToolResult:
    """The result of a command that goes on in the background."""
    command = job.command
    opening = (
        "Running in the background"
        if at_once
        else f"Still running after {command.seconds:.0f} s; continuing in the background"
    )
    text = (
        f"{opening} as job {job.id}. Read its new output with BashOutput, stop it with KillShell. "
        "Its directory and variables do not carry over to other commands."
    )
    return ToolResult(
        llm_content=text if at_once else _describe(command, [text], job),
        display=(_block(command),),
        summary=tr("{job} running in the background", job=job.id),
        metadata=_metadata(command, job_id=job.id),
    )


def how_it_ended(command: ShellCommand) -> tuple[str, str]:
    """ "exit 1 after 3.2 s", for the model and for the user."""
    values = {"code": _code(command), "signal": signal_of(command), "seconds": command.seconds}
    text = mark("exit {code} after {seconds:.1f} s")
    if values["signal"]:
        text = mark("exit {code} ({signal}) after {seconds:.1f} s")
    return text.format(**values), tr(text, **values)


def signal_of(command: ShellCommand) -> str | None:
    """The signal that ended the shell or, as the shell tells, its last command."""
    code = command.exit_code or 0
    number = -code if code < 0 else code - 128
    try:
        return signal.Signals(number).name
    except ValueError:
        return None


def readable(text: str) -> str:
    """The text without what was drawn over, as progress bars do."""
    return "\n".join(map(_last_drawn, text.replace("\r\n", "\n").split("\n")))


def _last_drawn(line: str) -> str:
    return line[line.rstrip("\r").rfind("\r") + 1 :]


def _code(command: ShellCommand) -> int:
    """The exit code as a shell would tell it."""
    code = command.exit_code or 0
    return 128 - code if code < 0 else code


def _describe(command: ShellCommand, remarks: Sequence[str], job: Job | None = None) -> str:
    """The output and the remarks; what is told of a job counts as read."""
    piece = command.output.since(0, is_final=job is None)
    if job is not None:
        job.read_to = piece.end
    text = readable(piece.text).rstrip("\n")
    lines = [text] if text.strip() else []
    if command.output.is_cut and command.output.problem:
        remarks = [*remarks, command.output.problem]
    lines += [f"[{remark}]" for remark in remarks]
    return "\n".join(lines) or "[no output]"


def _block(command: ShellCommand) -> TerminalBlock:
    code = None if command.exit_code is None else _code(command)
    return TerminalBlock(command=command.text, output=command.output.whole().text, exit_code=code)


def _metadata(command: ShellCommand, **more: JsonValue) -> dict[str, JsonValue]:
    output = command.output
    return {
        "exit_code": None if command.exit_code is None else _code(command),
        "signal": signal_of(command) if command.exit_code is not None else None,
        "duration": round(command.seconds, 3),
        "truncated": output.is_cut,
        "output_file": str(output.path) if output.path else None,
        **{name: value for name, value in more.items() if value is not None},
    }
