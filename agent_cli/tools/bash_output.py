"""Reads what a background job printed since the last time."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from agent_cli.core.display import TerminalBlock
from agent_cli.core.errors import FailureType, ToolFailure, refuse
from agent_cli.core.tool import Description, StatusTexts, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.find_program import find_program
from agent_cli.lib.language import mark, tr, trn
from agent_cli.lib.text import head_and_tail
from agent_cli.tools._shell.background_jobs import JOB_ALIASES, Job, Jobs, job_target
from agent_cli.tools._shell.report import readable
from agent_cli.tools._shell.shell_session import shown_chars

_MAX_FILTERED_BYTES = 16 * 1024 * 1024
_FILTER_TIMEOUT_S = 10


class Params(ToolParams):
    """Which job, and which of its lines."""

    job_id: str = ""
    """Without it: lists all jobs."""
    filter: str | None = None
    """A regular expression: only lines that match. The others count as read."""


async def run(params: Params, context: ToolContext) -> ToolResult:
    """The new output of the job."""
    jobs = context.state(Jobs)
    if not params.job_id:
        return _list(jobs)
    job = jobs.find(params.job_id)
    status, is_running = job.standing, job.status == "running"
    if params.filter:
        found = await _filter(job, params.filter, is_final=not is_running)
        gap = "[… {left_out:,} characters left out …]"
        text = head_and_tail(found, shown_chars(context.session), gap)
    else:
        piece = job.command.output.since(job.read_to, is_final=not is_running)
        job.read_to, text = piece.end, piece.text
    text = readable(text).rstrip("\n")
    lines = text.count("\n") + 1 if text else 0
    figures = trn("{n:,} new line", "{n:,} new lines", lines)
    return ToolResult(
        llm_content=f"{text}\n[{job.id}: {status}]"
        if text
        else f"[no new output; {job.id}: {status}]",
        display=(TerminalBlock(command=job.command.text, output=text),),
        summary=f"{figures} · {tr(job.status)}",
        metadata={
            "status": job.status,
            "exit_code": None if is_running else job.command.exit_code,
            "output_file": str(job.command.output.path) if job.command.output.path else None,
        },
    )


def _list(jobs: Jobs) -> ToolResult:
    return ToolResult(
        llm_content=jobs.listing or "There are no background jobs.",
        summary=trn("{n:,} background job", "{n:,} background jobs", len(jobs)),
        metadata={"jobs": [job.id for job in jobs]},
    )


async def _filter(job: Job, pattern: str, *, is_final: bool) -> str:
    """The new lines that match. A line that isn't finished yet is left for the next time."""
    output = job.command.output
    start = max(job.read_to, output.size - _MAX_FILTERED_BYTES)
    data = await asyncio.to_thread(output.read_file, start, output.size - start)
    if not is_final:
        data = data[: data.rfind(b"\n") + 1]
    matching = await _matching(pattern, data)
    job.read_to = start + len(data)
    return matching.decode(errors="replace")


async def _matching(pattern: str, data: bytes) -> bytes:
    """The matching lines, found by a program with a linear engine that we can end."""
    # Python's own engine can run for ever on some patterns, and nothing could interrupt it.
    process = await asyncio.create_subprocess_exec(
        *_searcher(), "-e", pattern, "-",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=Path("/"),
        env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    try:
        async with asyncio.timeout(_FILTER_TIMEOUT_S):
            found, complaint = await process.communicate(data)
    except TimeoutError as error:
        raise ToolFailure(
            "The filter took too long; use a simpler one.", type=FailureType.TIMEOUT
        ) from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    if process.returncode not in (0, 1):
        why = complaint.decode(errors="replace").strip()
        problem = f"The filter {pattern[:200]!r} is not a valid regular expression."
        raise refuse(problem, why)
    return found


def _searcher() -> list[str]:
    ripgrep = find_program("rg")
    if ripgrep:
        return [ripgrep, "--no-config", "--color=never", "--no-line-number", "--text"]
    return ["grep", "-E", "--text"]


TOOL = Tool(
    name="BashOutput",
    kind=ToolKind.READONLY,
    params=Params,
    run=run,
    description=Description.beside(__file__),
    targets=job_target,
    title=lambda params: params.job_id,
    aliases=("bash_output", "get_output", "get_terminal_output", "job_output", "read_output"),
    param_aliases={**JOB_ALIASES, "pattern": "filter"},
    category="shell",
    status=StatusTexts(mark("Reading output…"), mark("No output")),
)
