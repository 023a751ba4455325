"""The hooks of a session: asked before each call, told of everything else in the order it came."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agent_cli.core.events import (
    ApprovalAsked,
    Event,
    HistoryCompacted,
    Notice,
    TurnFinished,
    TurnStarted,
)
from agent_cli.core.hooks import Ruling
from agent_cli.core.moments import Moment
from agent_cli.core.tool import ToolResult
from agent_cli.extensions.hook import LONGEST_REASON, Hook, HookProblem, ruling_of
from agent_cli.lib.language import english, tr
from agent_cli.safety.sanitise import visible

log = logging.getLogger(__name__)

MOST_WAITING = 1_000
END_WITHIN = 10.0
"""Seconds for what still waits when the session ends."""

_Told = tuple[Moment, str, dict[str, Any]]


class SessionHooks:
    """Implements `core.hooks.Hooks`."""

    def __init__(self, facts: Mapping[str, Any], configured: Iterable[Hook] = ()) -> None:
        self._facts = dict(facts)
        self._configured = tuple(configured)
        self._of_plugins: dict[str, tuple[Hook, ...]] = {}
        self._waiting: asyncio.Queue[_Told] = asyncio.Queue(MOST_WAITING)
        self._worker: asyncio.Task[None] | None = None
        self.tell: Callable[[Event], None] = lambda _event: None

    @property
    def all(self) -> tuple[Hook, ...]:
        """Every hook, in the order they run."""
        return (*self._configured, *(each for own in self._of_plugins.values() for each in own))

    def offer(self, source: str, hooks: Iterable[Hook]) -> None:
        """From now on these are a plugin's hooks."""
        self._of_plugins[source] = tuple(hooks)

    def start(self, tell: Callable[[Event], None]) -> None:
        """The session begins; `tell` takes notices for the person."""
        self.tell = tell
        self._note("session_start")

    async def before_call(self, tool: str, arguments: Mapping[str, Any]) -> Ruling:
        """Each hook sees what the one before it made of the arguments; the first no ends it."""
        ask, changed = "", None
        for hook in self.all:
            if not hook.is_about("before_tool", tool):
                continue
            given = changed if changed is not None else arguments
            ruling = await self._rule(hook, tool, given)
            if ruling.deny:
                return ruling
            ask = ask or ruling.ask
            changed = ruling.arguments if ruling.arguments is not None else changed
        return Ruling(ask=ask, arguments=changed)

    def after_call(self, tool: str, arguments: Mapping[str, Any], result: ToolResult) -> None:
        """Remember who is to be told of it, and return at once."""
        came = {"success": result.success, "summary": result.summary}
        self._note("after_tool", tool=tool, arguments=arguments, **came)

    def see(self, event: Event) -> None:
        """Remember who is to be told of it, and return at once."""
        match event:
            case TurnStarted():
                self._note("prompt", prompt=event.prompt, turn=event.turn)
            case ApprovalAsked(request=request):
                asked = {"what": request.tool, "title": request.title, "reasons": request.reasons}
                self._note("approval", **asked)
            case TurnFinished():
                self._note("turn_end", reason=event.reason, text=event.text, turn=event.turn)
            case HistoryCompacted():
                self._note("compaction", reason=event.reason)
            case _:
                pass

    async def close(self) -> None:
        """Let what waits be told, and the end of the session with it, but not for ever."""
        self._note("session_end")
        if self._worker is None:
            return
        try:
            async with asyncio.timeout(END_WITHIN):
                await self._waiting.join()
        except TimeoutError:
            log.warning("hooks were still running when the session ended")
        self._worker.cancel()
        await asyncio.gather(self._worker, return_exceptions=True)
        self._configured, self._of_plugins = (), {}

    async def _rule(self, hook: Hook, tool: str, arguments: Mapping[str, Any]) -> Ruling:
        """What one hook says; one that fails cannot vouch for the call, so the person is asked."""
        try:
            told = {**self._facts, "event": "before_tool", "tool": tool, "arguments": arguments}
            async with asyncio.timeout(hook.timeout):
                return ruling_of(await hook.call(told), hook.name)
        except Exception as error:  # a hook's own
            why = _words(error, hook)
            return Ruling(ask=tr("the hook {name} failed ({why})", name=hook.name, why=why))

    def _note(self, moment: Moment, **more: Any) -> None:
        tool = str(more.get("tool", ""))
        if not any(hook.is_about(moment, tool) for hook in self.all):
            return
        try:
            self._waiting.put_nowait((moment, tool, {**self._facts, "event": moment, **more}))
        except asyncio.QueueFull:
            log.warning("a hook is too slow: %s is not told", moment)
            return
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())

    async def _work(self) -> None:
        while True:
            moment, tool, facts = await self._waiting.get()
            for hook in self.all:
                if hook.is_about(moment, tool):
                    await self._run(hook, facts)
            self._waiting.task_done()

    async def _run(self, hook: Hook, facts: Mapping[str, Any]) -> None:
        try:
            async with asyncio.timeout(hook.timeout):
                await hook.call(facts)
        except Exception as error:  # a hook's own
            why = _words(error, hook)
            text = tr("The hook {name} failed ({why}).", name=hook.name, why=why)
            log.warning("%s", english(text))
            self.tell(Notice(level="warning", text=text, hint=tr("/hooks lists them.")))


def _words(error: Exception, hook: Hook) -> str:
    if isinstance(error, TimeoutError):
        return tr("it took longer than {seconds:g} s", seconds=hook.timeout)
    if isinstance(error, HookProblem):
        return str(error)
    return visible(str(error)[:LONGEST_REASON], one_line=True) or type(error).__name__
