"""What the status line and the side panel tell, gathered from the session."""

from pathlib import Path

from agent_cli.core.prompt import git_branch
from agent_cli.core.session import Session
from agent_cli.frontends.tui.meter import Meter
from agent_cli.frontends.tui.panel import Changed, Overview
from agent_cli.frontends.tui.status import Status
from agent_cli.tools._shell.jobs import Jobs
from agent_cli.tools.todo_write import TodoList


class Gauge:
    """Keeps what takes time to find out; reading it costs nothing."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known = session.model
        self.meter = Meter()
        self.window: int | None = None
        """Tokens a request to the model may have."""
        self.sandbox = ""
        self.branch = ""

    @property
    def is_stale(self) -> bool:
        """Whether the model is another one than the one whose window is known."""
        return self._session.model != self._known

    async def learn_window(self) -> None:
        """Ask what is known of the model in use."""
        self.window, self._known = None, self._session.model
        facts = await self._session.describe_model()
        if not self.is_stale:
            self.window = facts.window

    async def learn_sandbox(self) -> None:
        """Find out what confines commands."""
        self.sandbox = (await self._session.sandbox.get()).tier.value

    def read_branch(self) -> None:
        """Look at the disk."""
        root = Path(self._session.workspace.root)
        self.branch = (git_branch(root) or "").removeprefix("branch ")

    def status(self) -> Status:
        """The facts of the moment."""
        session = self._session
        return Status(
            mode=session.mode.value,
            model=session.model,
            sandbox=self.sandbox,
            branch=self.branch,
            context=session.context_tokens / self.window if self.window else None,
            cost=session.usage.cost if session.usage.input_tokens else 0.0,
            is_cost_partial=bool(session.usage.cost is not None and session.usage.unpriced),
            elapsed=self.meter.elapsed,
            tokens_per_second=self.meter.tokens_per_second,
        )

    def overview(self, files: dict[str, Changed]) -> Overview:
        """The tools' own memory, as the panel shows it."""
        state = self._session.state
        jobs = tuple((job.command.text, job.standing) for job in state(Jobs))
        inside = f"{self._session.workspace.root.rstrip('/')}/"
        named = {path.removeprefix(inside): changed for path, changed in files.items()}
        return Overview(state(TodoList).items, named, jobs)
