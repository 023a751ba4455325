"""The child process in which LiteLLM lives: JSON lines in, JSON lines out.

Importing LiteLLM costs seconds of CPU and well over 100 MB. Here it costs them beside the program
instead of inside it, and a hang or crash of a vendor's library is a restart, not a lost session.

In    {"op": "configure", "environment": {...}}       keys and settings, never by the environment
      {"op": "complete", "id": 1, "request": {...}}   arguments of a streaming completion
      {"op": "describe", "id": 2, "model": "..."}     window, prices, abilities
      {"op": "list", "id": 3, "provider": "..."}      the models of a provider
      {"op": "prime", "model": "..."}                 load now what its first request would load
      {"op": "cancel", "id": 1}
      {"op": "ping"}
Out   {"op": "hello", "protocol": 1}                  at once
      {"op": "ready"} or {"op": "broken", "message"}  once LiteLLM is loaded
      {"op": "chunk", "id": 1, "text", "thinking", "blocks", "calls"}
      {"op": "done", "id": 1, "finish", "usage", "cost"}
      {"op": "failed", "id": 1, "error": {...}}
      {"op": "described", "id": 2, ...}
      {"op": "listed", "id": 3, "models": [...]}
      {"op": "pong"}

Requests are independent and answered by id; the end of standard input ends the process. Nothing in
the protocol needs a worker to be its program's child: the warm process forks them too.
"""

import asyncio
import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from agent_cli.lib import language

PROTOCOL = 1
FLUSH_EVERY_S = 0.01
"""Seconds; pieces that arrive closer together travel in one line."""

Send = Callable[[dict[str, Any]], None]


def main() -> None:
    """Load LiteLLM and serve."""
    _end_with_parent()
    language.use(os.environ.get("AGENT_LANGUAGE", language.SOURCE))
    serve(load)


def serve(load: Callable[[], Any]) -> None:
    """Serve with what `load` returns until standard input ends."""
    lines_in, send = _own_pipes()
    send({"op": "hello", "protocol": PROTOCOL})
    server = WorkerServer(send)
    threading.Thread(target=_read, args=(lines_in, server), daemon=True).start()
    try:
        client = load()
    except Exception as error:
        send({"op": "broken", "message": f"{type(error).__name__}: {error}"})
        raise SystemExit(1) from error
    send({"op": "ready"})
    asyncio.run(server.serve(client))


def _end_with_parent() -> None:
    """Ask the kernel to end this process with its parent, even in the middle of an import."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 (needed nowhere else)
        import signal  # noqa: PLC0415

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _own_pipes() -> tuple[BinaryIO, Send]:
    """Keep standard input and output for the protocol; whatever libraries print goes to stderr."""
    lines_in = os.fdopen(os.dup(0), "rb")
    lines_out = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    lock = threading.Lock()

    def send(message: dict[str, Any]) -> None:
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        try:
            with lock:
                lines_out.write(line)
                lines_out.flush()
        except OSError:
            os._exit(0)  # nobody listens any more

    return lines_in, send


def _read(lines_in: BinaryIO, server: "WorkerServer") -> None:
    for line in lines_in:
        server.receive(json.loads(line))
    os._exit(0)  # whatever the main thread is doing, the parent is gone


def load() -> Any:
    """LiteLLM, which takes seconds."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"  # otherwise a repository's .env would be loaded
    from agent_cli.models import litellm_client  # noqa: PLC0415 (seconds; after the hello)

    return litellm_client


class WorkerServer:
    """Runs requests side by side and cancels them by id."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Any = None
        self._priming: asyncio.Task[None] | None = None
        self._waiting: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def receive(self, message: dict[str, Any]) -> None:
        """Take a message from the reading thread: kept until LiteLLM is there."""
        if message["op"] == "configure":
            os.environ.update(message["environment"])
            language.use(os.environ.get("AGENT_LANGUAGE", language.SOURCE))
            return
        with self._lock:
            if self._loop is None:
                self._waiting.append(message)
                return
        self._loop.call_soon_threadsafe(self._handle, message)

    async def serve(self, client: Any) -> None:
        """Handle what has come and what will."""
        self._client = client
        with self._lock:
            self._loop = asyncio.get_running_loop()
        if any(message["op"] == "complete" for message in self._waiting):
            self._waiting = [m for m in self._waiting if m["op"] != "prime"]  # no time for that
        for message in self._waiting:
            self._handle(message)
        await asyncio.Event().wait()

    def _handle(self, message: dict[str, Any]) -> None:
        match message["op"]:
            case "ping":
                self._send({"op": "pong"})
            case "describe":
                described = self._client.describe(message["model"])
                self._send({"op": "described", "id": message["id"], **described})
            case "list":
                models = self._client.list_models(message["provider"])
                self._send({"op": "listed", "id": message["id"], "models": models})
            case "cancel":
                if task := self._tasks.get(message["id"]):
                    task.cancel()
            case "prime":
                self._priming = asyncio.create_task(self._client.prime(message["model"]))
            case "complete":
                number = message["id"]
                task = asyncio.create_task(self._complete(number, message["request"]))
                self._tasks[number] = task
                task.add_done_callback(lambda _task: self._tasks.pop(number, None))

    async def _complete(self, number: int, request: dict[str, Any]) -> None:
        flow = ReplyFlow(number, self._send)
        try:
            done = await self._client.complete(request, flow.add)
        except asyncio.CancelledError:
            flow.drop()
            raise
        except Exception as error:
            flow.flush()
            described = self._client.describe_error(error, request)
            self._send({"op": "failed", "id": number, "error": described})
        else:
            flow.flush()
            self._send({"op": "done", "id": number, **done})


class ReplyFlow:
    """Gathers the pieces of one reply into few lines."""

    def __init__(self, number: int, send: Send) -> None:
        self._number = number
        self._send = send
        self._pending: dict[str, Any] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, piece: dict[str, Any]) -> None:
        """Take a piece: text and thinking are joined, lists are lengthened."""
        if not piece:
            return
        if "thinking" in piece and "text" in self._pending:
            self.flush()  # thinking that follows text must not overtake it
        for key, value in piece.items():
            self._pending[key] = self._pending[key] + value if key in self._pending else value
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_EVERY_S, self.flush)

    def flush(self) -> None:
        """Send what has gathered."""
        pending = self._pending
        self.drop()
        if pending:
            self._send({"op": "chunk", "id": self._number, **pending})

    def drop(self) -> None:
        """Forget what has gathered."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._pending = {}


if __name__ == "__main__":
    main()
