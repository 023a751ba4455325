"""Work beside everything else: whatever fails in it is told and logged, and ends nothing."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from agent_cli.core.errors import UserError


class Background:
    """The only place where the program starts tasks of a view or a controller."""

    def __init__(
        self, warn: Callable[[str, str], None], report: Callable[[str, Exception], None]
    ) -> None:
        self._warn = warn
        self._report = report
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def tasks(self) -> tuple[asyncio.Task[None], ...]:
        """What is under way."""
        return tuple(self._tasks)

    def start(self, work: Coroutine[Any, Any, None], what: str) -> asyncio.Task[None]:
        """Run it; `what` says in an error message what failed."""
        task = asyncio.create_task(self._run(work, what))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def cancel(self) -> list[asyncio.Task[None]]:
        """End everything that is under way but what calls this; returns what ends."""
        running = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in running:
            task.cancel()
        return running

    async def close(self) -> None:
        """End everything that is under way, and wait for it."""
        running = self.cancel()
        if running:
            await asyncio.wait(running)

    @contextmanager
    def guard(self, what: str) -> Iterator[None]:
        """Tell of whatever fails inside: it must not end the program."""
        try:
            yield
        except UserError as error:
            self._warn(error.message, error.hint)
        except Exception as error:
            self._report(what, error)

    async def _run(self, work: Coroutine[Any, Any, None], what: str) -> None:
        with self.guard(what):
            await work
