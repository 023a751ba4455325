"""Ends a background job."""

from __future__ import annotations

from agent_cli.core.errors import ToolFailure
from agent_cli.core.tool import (
    Description,
    StatusTexts,
    Target,
    Tool,
    ToolKind,
    ToolParams,
    ToolResult,
)
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.language import mark, tr
from agent_cli.tools._shell.jobs import JOB_ALIASES, Jobs
from agent_cli.tools._shell.settings import bash_settings


class Params(ToolParams):
    """Which job."""

    job_id: str


async def run(params: Params, context: ToolContext) -> ToolResult:
    """End the job and all that it started."""
    job = context.state(Jobs).find(params.job_id)
    if job.status != "running":
        return ToolResult(
            llm_content=tr("{job} runs no more: {standing}.", job=job.id, standing=job.standing),
            summary=f"{job.id} {job.standing}",
        )
    alive = await job.command.end(bash_settings(context.session).kill_grace)
    if alive:
        listed = ", ".join(map(str, alive))
        raise ToolFailure(
            tr(
                "{job} could not be ended whole: processes {numbers} still run.",
                job=job.id,
                numbers=listed,
            )
        )
    job.was_killed = True
    seconds = job.command.seconds
    return ToolResult(
        llm_content=tr(
            "{job} was ended after {seconds:.1f} s. BashOutput still reads its last output.",
            job=job.id,
            seconds=seconds,
        ),
        summary=tr("{job} ended after {seconds:.1f} s", job=job.id, seconds=seconds),
    )


TOOL = Tool(
    name="KillShell",
    # It ends nothing but what this session started, which is no matter for a question.
    kind=ToolKind.READONLY,
    params=Params,
    run=run,
    description=Description.beside(__file__),
    targets=lambda params: (Target("name", params.job_id),),
    title=lambda params: params.job_id,
    aliases=("kill_shell", "kill_bash", "kill_job", "job_kill", "stop_job"),
    param_aliases=JOB_ALIASES,
    category="shell",
    status=StatusTexts(mark("Ending…"), mark("Could not be ended")),
    is_concurrency_safe=False,
)
