"""What a hook is: a moment, and a command or a function that is told of it."""

import fnmatch
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_cli.core.hooks import Ruling
from agent_cli.core.moments import Moment
from agent_cli.lib.language import tr
from agent_cli.lib.threads import in_own_thread
from agent_cli.safety.sanitise import visible

LONGEST_REASON = 500
DENIES = 2
"""The exit code by which a command refuses a call; its standard error says why."""

Said = Mapping[str, Any] | None
Function = Callable[[Mapping[str, Any]], Awaitable[Said] | Said]


class HookProblem(Exception):
    """A hook failed; the text says how."""


@dataclass(frozen=True, kw_only=True)
class Hook:
    """One hook. A function is told the same as a command, and answers the same."""

    on: Moment
    run: Function
    tools: tuple[str, ...] = ()
    """Before and after a tool: the names or patterns of those it is about; empty: all."""
    timeout: float = 10.0
    """Seconds."""
    name: str = ""
    """What the person knows it by."""

    def is_about(self, moment: Moment, tool: str) -> bool:
        """Whether it is to be told of this."""
        if self.on != moment:
            return False
        return not tool or not self.tools or any(fnmatch.fnmatch(tool, each) for each in self.tools)

    async def call(self, facts: Mapping[str, Any]) -> Mapping[str, Any]:
        """What it answers; raises whatever it raises."""
        if inspect.iscoroutinefunction(self.run):
            answer = await self.run(facts)
        else:
            said = await in_own_thread(lambda: self.run(facts))
            answer = await said if inspect.isawaitable(said) else said
        if answer is None:
            return {}
        if not isinstance(answer, Mapping):
            raise HookProblem(tr("it answered {kind}, not an object", kind=type(answer).__name__))
        return answer


def ruling_of(answer: Mapping[str, Any], name: str) -> Ruling:
    """What an answer means for a call; raises HookProblem. "allow" means nothing at all."""
    decision, arguments = answer.get("decision"), answer.get("arguments")
    if decision not in (None, "deny", "ask", "allow"):
        raise HookProblem(
            tr("its decision is {decision!r}, neither deny nor ask", decision=str(decision)[:40])
        )
    if arguments is not None and not isinstance(arguments, Mapping):
        raise HookProblem(tr("its arguments are not an object"))
    reason = visible(str(answer.get("reason") or "")[:LONGEST_REASON], one_line=True)
    told = tr("the hook {name} wants it so", name=name)
    if reason:
        told = tr("the hook {name} says: {reason}", name=name, reason=reason)
    return Ruling(
        deny=told if decision == "deny" else "",
        ask=told if decision == "ask" else "",
        arguments=arguments,
    )


def answer_of(code: int, out: bytes, err: bytes) -> Mapping[str, Any]:
    """What a command answered by its exit code and output; raises HookProblem."""
    if code == DENIES:
        return {"decision": "deny", "reason": err.decode("utf-8", "replace").strip()}
    if code:
        last = err.decode("utf-8", "replace").strip().rpartition("\n")[2]
        if not last:
            raise HookProblem(tr("exit code {code}", code=code))
        said = visible(last[:LONGEST_REASON], one_line=True)
        raise HookProblem(tr("exit code {code}: {said}", code=code, said=said))
    text = out.strip()
    if not text.startswith(b"{"):
        return {}
    try:
        answer: Mapping[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HookProblem(tr("its output is not JSON: {error}", error=error)) from error
    return answer
