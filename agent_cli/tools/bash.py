"""Runs a shell command in the session's shell."""

from __future__ import annotations

from pydantic import Field, JsonValue

from agent_cli.core.errors import ToolFailure, refuse
from agent_cli.core.messages import text_of
from agent_cli.core.pipeline import BLOCKED
from agent_cli.core.tool import (
    Description,
    StatusTexts,
    Target,
    Tool,
    ToolKind,
    ToolParams,
    ToolResult,
)
from agent_cli.core.tool_context import ShellInfo, ToolContext
from agent_cli.lib.language import mark
from agent_cli.safety.paths import PathProblem
from agent_cli.safety.sandbox import (
    Profile,
    Room,
    confinement_for,
    reading_confinement,
    was_blocked,
)
from agent_cli.tools._aliases import names, other_names
from agent_cli.tools._shell.background_jobs import Jobs
from agent_cli.tools._shell.bash_settings import BashSettings, bash_settings
from agent_cli.tools._shell.hidden_files import HiddenFiles
from agent_cli.tools._shell.later_effects import LaterEffects
from agent_cli.tools._shell.live_output import LiveOutput
from agent_cli.tools._shell.report import ended_result, in_background, timeout_result
from agent_cli.tools._shell.shell_command import ShellCommand
from agent_cli.tools._shell.shell_session import ShellSession

READS_LITTLE = "a command that runs without asking can only read the workspace and the system"
NOT_EXECUTABLE = 126
"""The exit code of a shell that was refused a program."""


class Params(ToolParams):
    """What to run."""

    command: str = Field(min_length=1)
    description: str = ""
    """What it does, in five to ten words."""
    timeout: int = Field(120_000, ge=1, le=600_000)
    """Milliseconds."""
    working_directory: str | None = None
    """For this command only."""
    run_in_background: bool = False


async def run(params: Params, context: ToolContext) -> ToolResult:
    """Run the command until it ends, its time is up, or it goes on in the background."""
    shell, standing = context.state(ShellSession), context.state(ShellInfo)
    directory = _directory(params, context)
    workspace = context.workspace
    if directory is None and (gone := shell.leave_missing_directory(standing, workspace)):
        # It was judged by where it would have run, so it must not run elsewhere.
        raise ToolFailure(
            f"The command was not run: the shell's directory {gone} no longer exists. The shell is "
            f"now in {context.workspace.root}; run the command again if that is right."
        )
    earlier = await _check_protected(context)
    room = await _room(context, context.confined) if context.confined else None
    result = await _run(params, context, room, directory)
    if room is None:
        return _noted(result, earlier)
    result = _with_sandbox(result, room, context)
    return _noted(result, earlier, await _check_protected(context))


async def _run(
    params: Params, context: ToolContext, room: Room | None, directory: str | None
) -> ToolResult:
    settings, workspace = bash_settings(context.session), context.workspace
    shell, standing = context.state(ShellSession), context.state(ShellInfo)
    jobs, live = context.state(Jobs), LiveOutput(context.progress)
    command = await _start(params, context, room, directory, live)
    try:
        if params.run_in_background:
            return in_background(jobs.add(command), at_once=True)
        limit = params.timeout / 1000
        patience = min(limit, settings.auto_background_after or limit)
        if not await command.wait(patience):
            if patience == limit:
                await _end_in_any_case(command, settings)
                return timeout_result(command, limit)
            return in_background(jobs.add(command), at_once=False)
        await command.settle()
        before = shell.directory or workspace.root
        keep, confined = directory is None, room is not None
        note = shell.adopt(command, standing, workspace, with_directory=keep, confined=confined)
    except BaseException:
        await _end_in_any_case(command, settings)
        await context.state(LaterEffects).check(context, may_ask=False)
        raise
    finally:
        live.close()
        command.watcher = None
    after = shell.directory or before
    leftover = jobs.add(command, is_leftover=True) if command.is_running else None
    if leftover is None:
        command.close()
    return ended_result(command, cwd=after, moved=after != before, note=note, leftover=leftover)


async def _start(
    params: Params,
    context: ToolContext,
    room: Room | None,
    directory: str | None,
    live: LiveOutput,
) -> ShellCommand:
    shell = context.state(ShellSession)
    is_watched = room is not None and not room.protects
    if is_watched:
        session = context.session
        await context.state(LaterEffects).begin(session.workspace, session.temporary)
    try:
        command = await shell.start(
            params.command, context.session, directory=directory, watcher=live, room=room
        )
    except BaseException:
        if room is not None:
            room.close()
        raise
    command.is_watched = is_watched
    command.on_close = room.close if room else None
    return command


async def _check_protected(context: ToolContext) -> str:
    """Undo what confined commands did to files that make something run, and ask about it."""
    effects = context.state(LaterEffects)  # before the jobs: so it is closed after them
    running = (job.command for job in context.state(Jobs) if job.command.is_watched)
    is_running = any(command.is_running for command in running)
    return await effects.check(context, is_running=is_running)


def _noted(result: ToolResult, *notes: str) -> ToolResult:
    lines = [text_of(result.llm_content), *(f"[{note}]" for note in notes if note)]
    if len(lines) == 1:
        return result
    return result.model_copy(update={"llm_content": "\n".join(lines)})


async def _room(context: ToolContext, profile: Profile) -> Room:
    """A place in the sandbox for one command."""
    sandbox, session = await context.session.sandbox.get(), context.session
    workspace, temporary = session.workspace, session.temporary or ""
    if profile is Profile.WORKSPACE:
        return Room(sandbox, confinement_for(workspace, temp=temporary or workspace.root))
    secrets = await context.state(HiddenFiles).find(workspace)
    limits = reading_confinement(
        workspace, temp=temporary, environment=session.environment, secrets=secrets
    )
    return Room(sandbox, limits)


def _with_sandbox(result: ToolResult, room: Room, context: ToolContext) -> ToolResult:
    """The result, with what the sandbox had to do with it."""
    said = text_of(result.llm_content)
    known: dict[str, JsonValue] = {**result.metadata, "sandbox": room.sandbox.tier.value}
    is_read_only = room.confinement.profile is Profile.READ_ONLY
    hidden, ended = context.state(HiddenFiles), result.metadata.get("exit_code")
    code = ended if isinstance(ended, int) else None
    why, notes = was_blocked(code, said), []
    if is_read_only:
        notes.append(hidden.note(said, context.workspace))
        if why == "sandbox_maybe" and code != NOT_EXECUTABLE:
            # What it may not look at is no reason to run it again without the sandbox.
            why = None
            notes.append("" if hidden.met(said) else READS_LITTLE)
    if why:
        known[BLOCKED] = why
    return _noted(result, *notes).model_copy(update={"metadata": known})


async def _end_in_any_case(command: ShellCommand, settings: BashSettings) -> None:
    try:
        await command.end(settings.kill_grace)
    finally:
        command.close()


def _directory(params: Params, context: ToolContext) -> str | None:
    wanted = params.working_directory
    if not wanted:
        return None
    try:
        found = context.workspace.resolve(wanted)
    except PathProblem as problem:
        raise refuse(f"working_directory: {problem.args[0]}.") from problem
    if not found.is_inside:
        raise refuse(f"working_directory {wanted} is outside the workspace.")
    if not found.exists:
        raise refuse(f"working_directory {wanted} does not exist.")
    if not found.is_directory:
        kind = found.kind or "a file"
        raise refuse(f"working_directory {wanted} is {kind}, not a directory.")
    return found.real


def _targets(params: Params) -> tuple[Target, ...]:
    return (Target("command", params.command, "execute", base=params.working_directory or None),)


TOOL = Tool(
    name="Bash",
    kind=ToolKind.EXECUTE,
    params=Params,
    run=run,
    description=Description.beside(__file__),
    targets=_targets,
    runs_in_shell=True,
    title=lambda params: params.command,
    aliases=names(
        "run_shell_command execute_command run_terminal_cmd shell exec_command run_command "
        "terminal execute local_shell"
    ),
    param_aliases=other_names(
        command="cmd script code",
        working_directory="cwd dir directory workdir path",
        run_in_background="background is_background",
        timeout="timeout_ms",
        description="explanation",
    ),
    category="shell",
    status=StatusTexts(mark("Running…"), mark("Command failed")),
    timeout=None,
)
