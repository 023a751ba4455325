"""Ends a background job."""

from __future__ import annotations

from agent_cli.core.errors import ToolFailure
from agent_cli.core.tool import Description, StatusTexts, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.language import mark, tr
from agent_cli.tools._shell.background_jobs import JOB_ALIASES, Jobs, job_target
from agent_cli.tools._shell.bash_settings import bash_settings


class Params(ToolParams):
    """Which job."""

    job_id: str


async def run(params: Params, context: ToolContext) -> ToolResult:
    """End the job and all that it started."""
    job = context.state(Jobs).find(params.job_id)
    if job.status != "running":
        return ToolResult(
            llm_content=f"{job.id} is not running: {job.standing}.",
            summary=f"{job.id} {tr(job.status)}",
        )
    alive = await job.command.end(bash_settings(context.session).kill_grace)
    if alive:
        listed = ", ".join(map(str, alive))
        raise ToolFailure(f"{job.id} was not fully stopped: processes {listed} are still running.")
    job.was_killed = True
    seconds = job.command.seconds
    return ToolResult(
        llm_content=(
            f"Stopped {job.id} after {seconds:.1f} s. BashOutput can still read its last output."
        ),
        summary=tr("{job} stopped after {seconds:.1f} s", job=job.id, seconds=seconds),
    )


TOOL = Tool(
    name="KillShell",
    kind=ToolKind.SESSION,
    params=Params,
    run=run,
    description=Description.beside(__file__),
    targets=job_target,
    title=lambda params: params.job_id,
    aliases=("kill_shell", "kill_bash", "kill_job", "job_kill", "stop_job"),
    param_aliases=JOB_ALIASES,
    category="shell",
    status=StatusTexts(mark("Stopping…"), mark("Could not be stopped")),
    is_concurrency_safe=False,
)
