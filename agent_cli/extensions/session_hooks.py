"""The hooks of a session: asked before each call, told of everything else in the order it came."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agent_cli.core import events as ev
from agent_cli.core.hook_protocol import HookVerdict
from agent_cli.core.moments import Moment
from agent_cli.core.tool import ToolResult
from agent_cli.extensions.hook_definition import MAX_REASON_CHARS, Hook, HookProblem, verdict_of
from agent_cli.lib.language import tr
from agent_cli.safety.reasons import Reason, because, in_words, quote_value
from agent_cli.safety.sanitise import visible

log = logging.getLogger(__name__)

MAX_WAITING = 1_000
CLOSE_TIMEOUT_S = 10.0
"""Seconds for what still waits when the session ends."""

_Told = tuple[Moment, str, dict[str, Any]]


class SessionHooks:
    """Implements `core.hook_protocol.Hooks`."""

    def __init__(self, facts: Mapping[str, Any], configured: Iterable[Hook] = ()) -> None:
        self._facts = dict(facts)
        self._configured = tuple(configured)
        self._of_plugins: dict[str, tuple[Hook, ...]] = {}
        self._waiting: asyncio.Queue[_Told] = asyncio.Queue(MAX_WAITING)
        self._worker: asyncio.Task[None] | None = None
        self._failed: set[tuple[str, str]] = set()
        """What was told of hooks that fail: once is enough."""
        self.tell: Callable[[ev.Event], None] = lambda _event: None

    @property
    def all(self) -> tuple[Hook, ...]:
        """Every hook, in the order they run."""
        return (*self._configured, *(each for own in self._of_plugins.values() for each in own))

    def offer(self, source: str, hooks: Iterable[Hook]) -> None:
        """From now on these are a plugin's hooks."""
        self._of_plugins[source] = tuple(hooks)

    def start(self, tell: Callable[[ev.Event], None]) -> None:
        """The session begins; `tell` takes notices for the user."""
        self.tell = tell
        self._note("session_start")

    async def before_call(self, tool: str, arguments: Mapping[str, Any]) -> HookVerdict:
        """Each hook sees what the one before it made of the arguments; the first no ends it."""
        ask: Reason | None = None
        changed: Mapping[str, Any] | None = None
        for hook in self.all:
            if not hook.is_about("before_tool", tool):
                continue
            given = changed if changed is not None else arguments
            verdict = await self._ask_hook(hook, tool, given)
            if verdict.deny:
                return verdict
            ask = ask or verdict.ask
            changed = verdict.arguments if verdict.arguments is not None else changed
        return HookVerdict(ask=ask, arguments=changed)

    def after_call(self, tool: str, arguments: Mapping[str, Any], result: ToolResult) -> None:
        """Remember who is to be told of it, and return at once."""
        came = {"success": result.success, "summary": result.summary}
        self._note("after_tool", tool=tool, arguments=arguments, **came)

    def see(self, event: ev.Event) -> None:
        """Remember who is to be told of it, and return at once."""
        match event:
            case ev.TurnStarted():
                self._note("prompt", prompt=event.prompt, turn=event.turn)
            case ev.ApprovalAsked(request=request):
                reasons = [str(reason) for reason in request.reasons]
                codes = [reason.code for reason in request.reasons]
                what, title = request.tool, request.title
                self._note("approval", what=what, title=title, reasons=reasons, codes=codes)
            case ev.TurnFinished():
                self._note("turn_end", reason=event.reason, text=event.text, turn=event.turn)
            case ev.HistoryCompacted():
                self._note("compaction", reason=event.reason)
            case _:
                pass

    async def close(self) -> None:
        """Let what waits be told, and the end of the session with it, but not for ever."""
        self._note("session_end")
        if self._worker is None:
            return
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self._waiting.join()
        except TimeoutError:
            log.warning("hooks were still running when the session ended")
        self._worker.cancel()
        await asyncio.gather(self._worker, return_exceptions=True)
        self._configured, self._of_plugins = (), {}

    async def _ask_hook(self, hook: Hook, tool: str, arguments: Mapping[str, Any]) -> HookVerdict:
        """What one hook says; one that fails cannot vouch for the call, so the user is asked."""
        try:
            told = {**self._facts, "event": "before_tool", "tool": tool, "arguments": arguments}
            async with asyncio.timeout(hook.timeout):
                return verdict_of(await hook.call(told), hook.name)
        except Exception as error:  # a hook's own
            why = _why(error, hook)
            return HookVerdict(ask=because("hook_failed", name=hook.name, why=why))

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
            why = _why(error, hook)
            if (hook.name, str(why)) in self._failed:
                return
            self._failed.add((hook.name, str(why)))
            log.warning("the hook %s failed (%s)", hook.name, why)
            text = tr("The hook {name} failed ({why}).", name=hook.name, why=in_words(why))
            self.tell(ev.Notice(level="warning", text=text, hint=tr("/hooks lists them.")))


def _why(error: Exception, hook: Hook) -> Reason:
    if isinstance(error, TimeoutError):
        return because("took_too_long", seconds=f"{hook.timeout:g}")
    if isinstance(error, HookProblem):
        return error.reason
    said = visible(str(error)[:MAX_REASON_CHARS], one_line=True)
    return quote_value(said or type(error).__name__)
