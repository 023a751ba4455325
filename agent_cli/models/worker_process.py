"""The parent's end of the worker: starts it, talks to it, and starts it again when it dies.

`spawn` needs nothing but the standard library, so the program can call it before it knows
anything else: the seconds LiteLLM takes to load are then spent beside our own start.
"""

import asyncio
import contextlib
import itertools
import json
import logging
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from functools import partial
from typing import Any

from agent_cli.lib import language
from agent_cli.lib.language import tr
from agent_cli.models.warm_client import WarmWorker, Worker, fork_worker, start_warm_process

log = logging.getLogger(__name__)

PASSED_ON = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
    "http_proxy", "https_proxy", "no_proxy", "all_proxy", "PYTHONDONTWRITEBYTECODE",
)  # fmt: skip
LOAD_TIMEOUT_S = 120.0
"""Seconds until LiteLLM must be there, on a slow machine too."""
SILENCE_TIMEOUT_S = 20.0
"""Seconds without a sign of life, though asked for one, after which the worker counts as hung."""
MAX_LINE_CHARS = 256 * 1024 * 1024


def spawn() -> Worker:
    """Start a worker with an environment that holds no keys."""
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    environment["AGENT_LANGUAGE"] = language.current_language()
    return fork_worker(environment) or subprocess.Popen(
        [sys.executable, "-P", "-m", "agent_cli.models.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd="/",
        start_new_session=True,  # Ctrl-C in the terminal is the parent's to handle
        bufsize=0,
    )


class WorkerGone(Exception):
    """The worker ended or hung before it answered."""


class WorkerBroken(Exception):
    """LiteLLM cannot be loaded: starting again will not help."""


class WorkerProcess:
    """One worker at a time; requests are streams of messages by id."""

    def __init__(
        self,
        process: Worker | None = None,
        *,
        patience: float = SILENCE_TIMEOUT_S,
        warm_minutes: int = 0,
    ) -> None:
        self._process = process
        self._warm_minutes = warm_minutes
        """How long the next starts are to find a warm process."""
        self._starting = asyncio.Lock()
        self._patience = patience
        self._environment: dict[str, str] = {}
        self._primed: str | None = None
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Queue[dict[str, Any] | Exception]] = {}
        self._writer: asyncio.StreamWriter | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._transports: list[asyncio.BaseTransport] = []
        self._last_sign = 0.0
        self._is_ready = False
        self._last_words: deque[str] = deque(maxlen=20)

    @property
    def pid(self) -> int | None:
        """The worker's process id, if one runs."""
        return self._process.pid if self._process is not None else None

    def configure(self, environment: Mapping[str, str]) -> None:
        """Give this worker, and each that follows it, variables it needs."""
        self._environment.update(environment)
        if self._writer is not None:
            self._send({"op": "configure", "environment": dict(environment)})

    async def prime(self, model: str) -> None:
        """Start the worker and have it load what this model's first request needs."""
        self._primed = model
        await self._ensure_running()

    async def request(self, message: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """Send a message and yield what comes back for it, up to and including the last.

        Raises WorkerGone or WorkerBroken. Leaving early cancels the request in the worker.
        """
        await self._ensure_running()
        number = next(self._numbers)
        answers: asyncio.Queue[dict[str, Any] | Exception] = asyncio.Queue()
        self._open[number] = answers
        finished = False
        try:
            self._send({**message, "id": number})
            while not finished:
                answer = await answers.get()
                if isinstance(answer, Exception):
                    finished = True
                    raise answer
                finished = answer["op"] != "chunk"
                yield answer
        finally:
            del self._open[number]
            if not finished:
                self._send({"op": "cancel", "id": number})

    async def close(self) -> None:
        """End the worker and wait until it is gone."""
        tasks = self._tasks
        self._let_go()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ensure_running(self) -> None:
        async with self._starting:  # warming up and a first request may come together
            if self._writer is None:
                await self._start()

    async def _start(self) -> None:
        if self._process is None:
            self._process = spawn()
        process = self._process
        loop = asyncio.get_running_loop()
        assert process.stdin and process.stdout and process.stderr
        reader, errors = asyncio.StreamReader(limit=MAX_LINE_CHARS), asyncio.StreamReader()
        for stream, pipe in ((reader, process.stdout), (errors, process.stderr)):
            receive = partial(asyncio.StreamReaderProtocol, stream)
            transport, _ = await loop.connect_read_pipe(receive, pipe)
            self._transports.append(transport)
        write_transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, process.stdin
        )
        self._transports.append(write_transport)
        self._writer = asyncio.StreamWriter(write_transport, protocol, None, loop)
        self._is_ready = False
        self._last_sign = time.monotonic()
        self._last_words.clear()
        self._tasks = [
            asyncio.create_task(self._read(reader)),
            asyncio.create_task(self._listen_to_errors(errors)),
            asyncio.create_task(self._watch()),
        ]
        self._send({"op": "configure", "environment": self._environment})
        if self._primed:
            self._send({"op": "prime", "model": self._primed})

    def _send(self, message: Mapping[str, Any]) -> None:
        if self._writer is None:
            return
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with contextlib.suppress(OSError, RuntimeError):  # its end is noticed by the reader
            self._writer.write(line)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        """Hand each answer to whoever waits for it, until the worker is gone."""
        problem: Exception = WorkerGone(tr("the model process ended"))
        try:
            while line := await reader.readline():
                self._last_sign = time.monotonic()
                message = json.loads(line)
                match message["op"]:
                    case "ready":
                        self._is_ready = True
                        self._keep_warm()
                    case "broken":
                        problem = WorkerBroken(message["message"])
                        break
                    case "hello" | "pong":
                        pass
                    case _:
                        if queue := self._open.get(message["id"]):
                            queue.put_nowait(message)
        except ValueError as error:
            problem = WorkerGone(tr("the model process wrote nonsense ({error})", error=error))
        self._give_up(problem)

    def _keep_warm(self) -> None:
        """Now that our own worker no longer needs the time, spare the next start the wait."""
        if self._primed and not isinstance(self._process, WarmWorker):
            with contextlib.suppress(OSError):
                start_warm_process(self._primed, self._warm_minutes)

    async def _watch(self) -> None:
        """Notice a worker that lives but does not answer."""
        pause = self._patience / 4
        while True:
            asleep = time.monotonic()
            await asyncio.sleep(pause)
            now = time.monotonic()
            # What we overslept, stopped or busy, is not its silence: nobody was listening.
            self._last_sign += max(0.0, now - asleep - pause)
            silence = now - self._last_sign
            if silence > (self._patience if self._is_ready else LOAD_TIMEOUT_S):
                log.warning("the model process has been silent for %.0f s", silence)
                if self._process is not None:
                    self._process.kill()
                return
            if self._is_ready:
                self._send({"op": "ping"})

    async def _listen_to_errors(self, errors: asyncio.StreamReader) -> None:
        with contextlib.suppress(ValueError):
            while line := await errors.readline():
                self._last_words.append(line.decode(errors="replace").rstrip())

    def _give_up(self, problem: Exception) -> None:
        """Tell all who wait; the next request starts a new worker."""
        if self._last_words:
            log.warning("the model process said: %s", " | ".join(self._last_words))
        self._let_go()
        for queue in self._open.values():
            queue.put_nowait(problem)

    def _let_go(self) -> None:
        """End the process for certain and collect it, with all that belongs to it."""
        process, self._process = self._process, None
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()
        for transport in self._transports:
            transport.close()
        self._tasks, self._transports, self._writer = [], [], None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in filter(None, (process.stdin, process.stdout, process.stderr)):
                with contextlib.suppress(OSError):
                    pipe.close()
