"""Takes a foreign tool in: it keeps what it does, and can neither pose as another nor break us."""

from collections.abc import Callable
from typing import Any, TypeVar

from agent_cli.core.permissions import Rule
from agent_cli.core.registry import Registry
from agent_cli.core.tool import AnyTool, Tool

T = TypeVar("T")

_NO_TARGETS = Tool.__dataclass_fields__["targets"].default


def adopt(tool: AnyTool, registry: Registry) -> AnyTool:
    """The tool as it may be registered; raises whatever its declaration raises.

    What the registry and the screen ask it outside of a call must not fail, its name on the screen
    is no other tool's, and "always" can allow nothing but this very tool.
    """
    posing = registry.get(tool.display_name) is not None
    adopted = tool.with_changes(
        display_name=tool.name if posing else tool.display_name,
        rule=_own_rule(tool),
        title=_guarded(tool.title, ""),
        is_dangerous=_guarded(tool.is_dangerous, default=True),
        is_enabled=lambda: bool(_guarded(lambda _: tool.is_enabled(), default=False)(None)),
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


def _guarded(ask: Callable[[Any], T], default: T) -> Callable[[Any], T]:
    def guarded(params: Any) -> T:
        try:
            return ask(params)
        except Exception:  # it is asked in places where a fault would not be the call's alone
            return default

    return guarded
