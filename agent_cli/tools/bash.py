"""Runs a shell command."""

import asyncio
import os
import signal

from pydantic import Field

from agent_cli.core.display import TerminalBlock
from agent_cli.core.errors import FailureType, ToolFailure
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


class Params(ToolParams):
    """What to run."""

    command: str = Field(min_length=1)
    """The command, as bash reads it."""
    description: str = ""
    """What it does, in five to ten words."""
    timeout: int = Field(120_000, ge=1, le=600_000)
    """Milliseconds."""


async def run(params: Params, context: ToolContext) -> ToolResult:
    """Run the command in a process group of its own."""
    process = await asyncio.create_subprocess_exec(
        "bash", "--noprofile", "--norc", "-c", params.command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=context.workspace.root,
        env=dict(context.session.environment),
        start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(params.timeout / 1000):
            output, _ = await process.communicate()
    except TimeoutError as error:
        raise ToolFailure(
            f"The command was stopped after {params.timeout / 1000:g} s.", type=FailureType.TIMEOUT
        ) from error
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        await process.wait()
    text = output.decode(errors="replace")
    code = process.returncode
    return ToolResult(
        success=code == 0,
        llm_content=f"{text}\n[exit code {code}]",
        display=(TerminalBlock(command=params.command, output=text, exit_code=code),),
        summary=f"exit {code}",
    )


TOOL = Tool(
    name="Bash",
    kind=ToolKind.EXECUTE,
    params=Params,
    run=run,
    description=Description(short="Runs a shell command."),
    targets=lambda params: (Target("command", params.command, "execute"),),
    title=lambda params: params.command,
    category="shell",
    status=StatusTexts("Running…", "Command failed"),
    timeout=None,
)
