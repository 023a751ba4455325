"""An app that outlives its own faults: they are reported and logged, and end nothing."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from textual._context import active_message_pump
from textual.app import App
from textual.dom import DOMNode
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import Worker

from agent_cli.core.errors import UserError
from agent_cli.lib.language import tr

log = logging.getLogger(__name__)

R = TypeVar("R")
T = TypeVar("T")
Dispatch = Callable[[Message], Coroutine[Any, Any, None]]

MAX_FAULTS = 20
FAULT_WINDOW_S = 10.0
"""More faults than that within this time are a screen that cannot be drawn: the app ends."""


def run_in_background(
    node: DOMNode, work: Callable[[], Coroutine[Any, Any, None]], what: str, *, group: str = ""
) -> None:
    """Do something beside everything else, until the node goes; `what` names it if it fails.

    Of the same group of a node only the latest continues.
    """
    app = node.app

    async def guarded() -> None:
        try:
            await work()
        except Exception as error:
            if not isinstance(app, GuardedApp):
                raise
            app.report(what, error)

    _: Worker[None] = node.run_worker(guarded, group=group or "default", exclusive=bool(group))


class GuardedApp(App[R]):
    """Every handler of every widget is guarded, from when the app says that it can tell of it."""

    crash: Exception | None = None
    """What ended the app, if it did not end well. Whoever started it says where the log is."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._fault_times: deque[float] = deque(maxlen=MAX_FAULTS)
        self._waiting: dict[Screen[Any], asyncio.Future[Any]] = {}

    @property
    def can_tell(self) -> bool:
        """Whether the user can be told of a fault; until then, a fault ends the app."""
        return False

    def tell_fault(self, what: str, error: Exception) -> None:
        """Tell the user; only called if that can be done."""
        raise NotImplementedError

    def report(self, what: str, error: Exception) -> None:
        """Tell of a fault; it ends the app only if there is no other way, or no end of them."""
        now = time.monotonic()
        times = self._fault_times
        are_endless = len(times) == MAX_FAULTS and now - times[0] < FAULT_WINDOW_S
        times.append(now)
        if self.can_tell and not are_endless:
            self.tell_fault(what, error)
        elif not isinstance(error, UserError):
            self._end(error)

    async def show_screen(self, screen: Screen[T]) -> T:
        """Show a screen and wait for its result; when cancelled, that very screen goes away."""
        result: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def dismissed(value: T | None) -> None:
            if not result.done():
                result.set_result(value)  # type: ignore[arg-type]

        self._waiting[screen] = result
        try:
            with self._context():  # the result comes to the app, not to what may be gone by then
                self.push_screen(screen, dismissed)
            return await result
        finally:
            del self._waiting[screen]
            self.remove_screen(screen)

    def remove_screen(self, screen: Screen[Any]) -> None:
        """Take a screen away, whatever is on top of it."""
        if self._exit or screen not in self._screen_stack or len(self._screen_stack) == 1:
            return
        with self._context():
            if screen is self.screen:
                self.pop_screen()
                return
            self._screen_stack.remove(screen)
            screen._pop_result_callback()
            screen.remove()
            for each in self._screen_stack:
                each.refresh(layout=True)

    # ── Textual ends an app at the first exception, and a widget's messages with it ──────────────

    def _register_child(self, parent: DOMNode, child: Widget, *where: int | None) -> None:
        guarded = partial(self._guard, child._dispatch_message)
        child._dispatch_message = guarded  # type: ignore[method-assign]
        super()._register_child(parent, child, *where)

    async def _dispatch_message(self, message: Message) -> None:
        await self._guard(super()._dispatch_message, message)

    async def _guard(self, dispatch: Dispatch, message: Message) -> None:
        try:
            await dispatch(message)
        except Exception as error:
            if not self.can_tell:
                raise
            self._handle_exception(error)

    def _handle_exception(self, error: Exception) -> None:
        """A fault on a screen on top takes that screen away; whoever waits for it hears why."""
        at = active_message_pump.get(self)
        at_fault = at.ancestors_with_self if isinstance(at, Widget) else ()
        for screen in self._screen_stack[1:] if self.can_tell else ():
            if screen in at_fault:
                waiting = self._waiting.get(screen)
                if waiting is not None and not waiting.done():
                    waiting.set_exception(error)
                    return
                self.remove_screen(screen)
        self.report(tr("Something on the screen failed"), error)

    def _end(self, error: Exception) -> None:
        self.crash = self.crash or error
        log.critical("the screen failed", exc_info=error)
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        self._close_messages_no_wait()
