"""Takes a foreign tool in: it keeps what it does, and can neither pose as another nor break us."""

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar

from agent_cli.core.deciding.rules import Rule
from agent_cli.core.display import Display, TextBlock
from agent_cli.core.registry import Registry
from agent_cli.core.tool import AnyTool, Tool, ToolParams
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import oddities

T = TypeVar("T")

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""What every provider takes and a rule can name; no wildcard, no two letters that look the same."""

_NO_TARGETS = Tool.__dataclass_fields__["targets"].default


def adopt(tool: AnyTool, registry: Registry) -> AnyTool:
    """The tool as it may be registered; raises whatever its declaration raises.

    What the registry and the screen ask it outside of a call must not fail, its name on the screen
    is no other tool's, "always" can allow nothing but this very tool, the user who is asked sees
    all it is given, and its commands are not taken for those of our shell.
    """
    if not _NAME.fullmatch(tool.name):
        raise ValueError(
            tr("a tool's name has 1 to 64 letters, digits, - and _, and doesn't start with a digit")
        )
    shown = tool.display_name
    posing = (
        registry.get(shown) is not None
        or any(shown.casefold() == each.display_name.casefold() for each in registry)
        or bool(oddities(shown))
    )
    adopted = tool.with_changes(
        display_name=tool.name if posing else tool.display_name,
        rule=_own_rule(tool),
        preview=tool.preview or _arguments,
        runs_in_shell=False,
        title=_guard(tool.title, ""),
        is_dangerous=_guard(tool.is_dangerous, default=True),
        is_enabled=lambda: bool(_guard(lambda _: tool.is_enabled(), default=False)(None)),
    )
    _ = adopted.declaration  # it is made now, where a fault can be told
    return adopted


def _own_rule(tool: AnyTool) -> Callable[[Any], str | None] | None:
    if tool.rule is None:
        # What touches something is allowed by what it touches, the rest by its name.
        return (lambda _params: tool.name) if tool.targets is _NO_TARGETS else None
    propose = tool.rule

    def rule(params: Any) -> str | None:
        proposed = propose(params)
        return proposed if proposed and Rule.parse(proposed).tool == tool.name else None

    return rule


async def _arguments(params: ToolParams, _context: ToolContext) -> Display | None:
    given = params.model_dump(mode="json")
    if not given:
        return None
    return TextBlock(text=json.dumps(given, ensure_ascii=False, indent=2), language="json")


def _guard(ask: Callable[[Any], T], default: T) -> Callable[[Any], T]:
    def guarded(params: Any) -> T:
        try:
            return ask(params)
        except Exception:  # it is asked in places where a fault would not be the call's alone
            return default

    return guarded
