"""Runs blocking work in threads: given up with its caller, or waited for in any case."""

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def in_own_thread(work: Callable[[], T]) -> T:
    """The result of work that may block for ever: it is given up by cancelling, and left behind."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)
        elif isinstance(error, Exception) and not isinstance(error, StopIteration):
            future.set_exception(error)
        else:  # such as SystemExit: it is not for foreign code to end the program
            future.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))

    def run() -> None:
        result, error = None, None
        try:
            result = context.run(work)
        except BaseException as raised:  # it is passed on
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop may be gone by now
            loop.call_soon_threadsafe(settle, result, error)

    context = contextvars.copy_context()
    threading.Thread(target=run, daemon=True).start()
    return await future


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Wait for something that must not be left half done, even when the caller is cancelled."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError
    return task.result()
