"""The commands that run in the background of a session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.tool import Target
from agent_cli.lib import sweep
from agent_cli.lib.language import mark
from agent_cli.lib.ports import listening
from agent_cli.tools._aliases import other_names
from agent_cli.tools._shell.shell_command import ShellCommand

MAX_FINISHED_JOBS = 20
"""Ended jobs whose output can still be read."""

JOB_ALIASES = other_names(job_id="shell_id bash_id id")
"""Other names under which models give a job."""

STATUSES = (mark("running"), mark("ended"), mark("killed"))


@dataclass
class Job:
    """A command in the background, and how far its output was read."""

    id: str
    command: ShellCommand
    read_to: int = 0
    is_leftover: bool = False
    """The shell itself has ended; what it started in the background runs on."""
    was_killed: bool = False

    @property
    def status(self) -> str:
        """What became of it: one of STATUSES."""
        if self.was_killed:
            return "killed"
        return "running" if self.command.is_running else "ended"

    @property
    def standing(self) -> str:
        """Its status in a few words, for the model."""
        status, command = self.status, self.command
        if status == "running" and self.is_leftover:
            return "running (its shell has exited)"
        if status == "running":
            return f"running for {command.seconds:.1f} s"
        if status == "killed":
            return "killed"
        if command.exit_code is None or self.is_leftover:
            return "ended"
        return f"ended with exit code {command.exit_code} after {command.seconds:.1f} s"


class Jobs:
    """The background jobs of a session, by id."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._count = 0

    def __iter__(self) -> Iterator[Job]:
        return iter(tuple(self._jobs.values()))

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, command: ShellCommand, *, is_leftover: bool = False) -> Job:
        """Make a command a job. Nothing of its output counts as read."""
        self._count += 1
        command.output.keep()
        command.close_dump()
        job = Job(f"bash_{self._count}", command, is_leftover=is_leftover)
        self._jobs[job.id] = job
        self._forget_old()
        return job

    def find(self, job_id: str) -> Job:
        """The job of this id, or a failure that lists the known ones."""
        job = self._jobs.get(job_id)
        if job is None:
            raise ToolFailure(
                f"There is no background job {job_id[:80]!r}.",
                type=FailureType.VALIDATION,
                details=f"Known jobs:\n{self.listing}" if self._jobs else "No job was started.",
            )
        return job

    @property
    def listing(self) -> str:
        """All of them, one a line."""
        return "\n".join(f"{job.id}: {job.standing}: {_short(job)}" for job in self)

    def running(self) -> list[dict[str, object]]:
        """What runs now, as the receipt of a turn tells it."""
        return [
            {
                "id": job.id,
                "command": _short(job),
                "ports": listening(sweep.find(job.command.mark, (job.command.pid,))),
            }
            for job in self
            if job.status == "running"
        ]

    async def close(self) -> None:
        """End them all."""
        await asyncio.gather(*(job.command.end() for job in self if job.command.is_running))
        for job in self:
            job.command.close()
        self._jobs.clear()

    def _forget_old(self) -> None:
        finished = [job for job in self if job.status != "running"]
        for job in finished[:-MAX_FINISHED_JOBS]:
            job.command.close()
            del self._jobs[job.id]


def job_target(params: Any) -> tuple[Target, ...]:
    """What a call touches: the job it names."""
    return (Target("name", params.job_id),)


def _short(job: Job) -> str:
    line = " ".join(job.command.text.split())
    return line if len(line) <= 80 else f"{line[:79]}…"
