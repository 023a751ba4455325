"""What a hook is: a moment, and a command or a function that is told of it."""

import fnmatch
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_cli.core.hook_protocol import HookVerdict
from agent_cli.core.moments import Moment
from agent_cli.lib.threads import in_own_thread
from agent_cli.safety.reasons import ReasonedError, because
from agent_cli.safety.sanitise import visible

MAX_REASON_CHARS = 500
DENIES = 2
"""The exit code by which a command refuses a call; its standard error says why."""

Said = Mapping[str, Any] | None
Function = Callable[[Mapping[str, Any]], Awaitable[Said] | Said]


class HookProblem(ReasonedError):
    """A hook failed."""


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
    """What the user knows it by."""

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
            raise HookProblem(because("hook_answer", kind=type(answer).__name__))
        return answer


def verdict_of(answer: Mapping[str, Any], name: str) -> HookVerdict:
    """What an answer means for a call; raises HookProblem. "allow" means nothing at all."""
    decision, arguments = answer.get("decision"), answer.get("arguments")
    if decision not in (None, "deny", "ask", "allow"):
        raise HookProblem(because("hook_decision", decision=str(decision)[:40]))
    if arguments is not None and not isinstance(arguments, Mapping):
        raise HookProblem(because("hook_arguments"))
    said = visible(str(answer.get("reason") or "")[:MAX_REASON_CHARS], one_line=True)
    if said:
        why = because("hook_says", name=name, said=said)
    else:
        why = because("hook_denies" if decision == "deny" else "hook_asks", name=name)
    return HookVerdict(
        deny=why if decision == "deny" else None,
        ask=why if decision == "ask" else None,
        arguments=arguments,
    )


def answer_of(code: int, out: bytes, err: bytes) -> Mapping[str, Any]:
    """What a command answered by its exit code and output; raises HookProblem."""
    if code == DENIES:
        return {"decision": "deny", "reason": err.decode("utf-8", "replace").strip()}
    if code:
        last = err.decode("utf-8", "replace").strip().rpartition("\n")[2]
        if not last:
            raise HookProblem(because("exit_code", code=code))
        said = visible(last[:MAX_REASON_CHARS], one_line=True)
        raise HookProblem(because("exit_code_said", code=code, said=said))
    text = out.strip()
    if not text.startswith(b"{"):
        return {}
    try:
        answer: Mapping[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HookProblem(because("not_json", error=error)) from error
    return answer
