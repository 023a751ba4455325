"""One shell command under way: its process, what it prints, and what it leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from agent_cli.lib import sweep
from agent_cli.lib.bounded_output import Output
from agent_cli.safety.sandbox import Process

_CHUNK = 65_536
_SETTLE_S = 0.25
"""Seconds in which what the shell started may print its last words after the shell has ended."""


@dataclass
class ShellCommand:
    """A command from its start until nothing of it is left."""

    text: str
    output: Output
    mark: str
    dump: int
    watcher: Callable[[bytes], None] | None = None
    """Sees each piece of output as it comes."""
    on_close: Callable[[], None] | None = None
    """What was set up for it and is to be taken down with it."""
    is_watched: bool = False
    """It could change what makes something run, so that is looked at after it."""
    started: float = field(default_factory=time.monotonic)
    started_at: float = field(default_factory=time.time)
    ended: float | None = None
    exit_code: int | None = None
    _process: Process | None = None
    _reading: int | None = None
    _exited: asyncio.Event = field(default_factory=asyncio.Event)
    _silent: asyncio.Event = field(default_factory=asyncio.Event)
    _group_lives: bool = True

    @property
    def pid(self) -> int:
        """The shell's process id, and that of its group."""
        return self._process.pid if self._process else 0

    @property
    def has_exited(self) -> bool:
        """Whether the shell itself has ended."""
        return self._exited.is_set()

    @property
    def seconds(self) -> float:
        """How long the shell has run."""
        return (self.ended or time.monotonic()) - self.started

    @property
    def is_running(self) -> bool:
        """Whether anything of it still runs, as far as can be told without looking far."""
        if not self.has_exited:
            return True
        if self._group_lives:
            self._group_lives = sweep.has_members(self.pid)
        return self._group_lives or not self._silent.is_set()

    def launch(self, start: Callable[[int], Process]) -> None:
        """Start the process, with a descriptor for what it prints."""
        loop = asyncio.get_running_loop()
        reading, writing = os.pipe2(os.O_CLOEXEC) if hasattr(os, "pipe2") else os.pipe()
        try:
            self._process = start(writing)
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        os.set_blocking(reading, False)
        self._reading = reading
        loop.add_reader(reading, self._read)
        self._await_exit(loop)

    async def wait(self, seconds: float | None) -> bool:
        """Whether the shell ended within this time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._exited.wait()
        return self.has_exited

    async def settle(self) -> None:
        """After the shell's end: take what is still in the pipe, wait a moment for stragglers."""
        for _ in range(64):
            if not self._read():
                break
        if self.is_running:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SETTLE_S):
                    await self._silent.wait()
                    while self.is_running:  # noqa: ASYNC110 (no event tells that a group ended)
                        await asyncio.sleep(0.01)

    async def end(self, grace: float = 0.8) -> list[int]:
        """End it and everything it started; returns what could not be ended."""
        groups = (self.pid,) if not self.has_exited or self.is_running else ()
        ending = asyncio.ensure_future(asyncio.to_thread(sweep.end, self.mark, groups, grace=grace))
        try:
            alive = await asyncio.shield(ending)
        except asyncio.CancelledError:
            self._kill_group()  # the thread goes on with the others
            raise
        await self.wait(1.0)
        await self.settle()
        if not alive:
            self._group_lives = False
            self._stop_reading()
        return alive

    def close(self) -> None:
        """Let go of descriptors; what runs is not touched."""
        self._stop_reading()
        self.close_dump()
        if self.on_close is not None:
            self.on_close()
            self.on_close = None

    def close_dump(self) -> None:
        """Give up the state that the shell writes down."""
        if self.dump >= 0:
            os.close(self.dump)
            self.dump = -1

    def _kill_group(self) -> None:
        if not self.has_exited:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def _read(self) -> bool:
        """Take one piece of output; False if there is none now."""
        if self._reading is None:
            return False
        try:
            data = os.read(self._reading, _CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._stop_reading()
            return False
        self.output.write(data)
        if self.watcher is not None:
            self.watcher(data)
        return True

    def _stop_reading(self) -> None:
        if self._reading is not None:
            asyncio.get_running_loop().remove_reader(self._reading)
            os.close(self._reading)
            self._reading = None
            self.output.close()
        self._silent.set()

    def _await_exit(self, loop: asyncio.AbstractEventLoop) -> None:
        process = self._process
        assert process is not None
        if hasattr(os, "pidfd_open"):
            handle = os.pidfd_open(process.pid)

            def reap() -> None:
                loop.remove_reader(handle)
                os.close(handle)
                self._over(process.wait())

            loop.add_reader(handle, reap)
            return

        def wait() -> None:
            code = process.wait()
            with contextlib.suppress(RuntimeError):  # the loop may be gone by now
                loop.call_soon_threadsafe(self._over, code)

        threading.Thread(target=wait, daemon=True).start()

    def _over(self, code: int) -> None:
        self.exit_code = code
        self.ended = time.monotonic()
        self._exited.set()
