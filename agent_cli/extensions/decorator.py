"""`@tool`: a typed function becomes a tool; its signature and docstring are all there is to write.

    @tool(kind="readonly")
    async def weather(city: str, days: int = 1) -> str:
        '''Tells the weather.

        Args:
            city: The city, in English.
            days: How many days ahead.
        '''

A parameter annotated `ToolContext` is given the context and is no parameter for the model. What
isn't declared read-only asks before it runs.
"""

import inspect
import json
import warnings
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Literal, TypeVar, cast, get_type_hints, overload

from pydantic import BaseModel, Field, create_model
from pydantic_core import to_jsonable_python

from agent_cli.core.tool import AnyTool, Description, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.extensions.docstrings import Docstring
from agent_cli.lib.language import mark, tr
from agent_cli.lib.threads import in_own_thread

ATTRIBUTE = "__agent_tool__"
"""Where a decorated function keeps its tool."""

F = TypeVar("F", bound=Callable[..., Any])
Kind = Literal["readonly", "write", "execute"]


@overload
def tool(function: F) -> F: ...
@overload
def tool(
    *, name: str = "", kind: Kind | ToolKind = ToolKind.EXECUTE, **fields: Any
) -> Callable[[F], F]: ...
def tool(
    function: F | None = None,
    *,
    name: str = "",
    kind: Kind | ToolKind = ToolKind.EXECUTE,
    **fields: Any,
) -> F | Callable[[F], F]:
    """Make a tool of a function; the function itself stays as it was, to be called and tested.

    Further fields are those of `Tool`: `targets` gets the parameters as an object and says what the
    call touches, `timeout` is in seconds.
    """

    def decorate(made: F) -> F:
        setattr(made, ATTRIBUTE, _tool(made, name, ToolKind(kind), fields))
        return made

    return decorate if function is None else decorate(function)


def tool_of(value: Any) -> AnyTool | None:
    """The tool that a value is, or was made into."""
    if isinstance(value, Tool):
        return value
    found = getattr(value, ATTRIBUTE, None) if inspect.isfunction(value) else None
    return found if isinstance(found, Tool) else None


def _tool(function: Callable[..., Any], name: str, kind: ToolKind, fields: Any) -> AnyTool:
    words = Docstring.of(function)
    if not words.short:
        text = mark("{function} has no docstring; it tells the model what the tool does")
        raise TypeError(tr(text, function=function.__name__))
    params, context_name = _params(function, words)

    async def run(given: ToolParams, context: ToolContext) -> ToolResult:
        arguments = {field: getattr(given, field) for field in type(given).model_fields}
        if context_name is not None:
            arguments[context_name] = context
        if inspect.iscoroutinefunction(function):
            return as_result(await cast("Awaitable[Any]", function(**arguments)))
        return as_result(await in_own_thread(partial(function, **arguments)))

    return Tool(
        name=name or function.__name__,
        kind=kind,
        params=params,
        description=Description(short=words.short, long=words.long),
        run=run,
        **{"category": "custom", "title": _first_argument, **fields},
    )


def _params(function: Callable[..., Any], words: Docstring) -> tuple[type[ToolParams], str | None]:
    """A params model of the signature, and the name of the parameter that takes the context."""
    hints = get_type_hints(function, include_extras=True)
    context_name = None
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        name = parameter.name
        if hints.get(name) is ToolContext:
            context_name = name
            continue
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            text = mark("{function}: the parameter {name} must be usable by keyword")
            raise TypeError(tr(text, function=function.__name__, name=name))
        if name not in hints:
            text = mark("{function}: the parameter {name} has no type annotation")
            raise TypeError(tr(text, function=function.__name__, name=name))
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hints[name], Field(default, description=words.parameters.get(name)))
    with warnings.catch_warnings():
        # A field named like one of pydantic's own methods is fine: nobody calls them on params.
        warnings.simplefilter("ignore", UserWarning)
        model = create_model(
            function.__name__, __base__=ToolParams, __module__=function.__module__, **fields
        )
    return model, context_name


def as_result(value: Any) -> ToolResult:
    """What a function returned, as a result: text as it is, data as JSON."""
    if isinstance(value, ToolResult):
        return value
    if value is None:
        return ToolResult(llm_content="Done.")
    if isinstance(value, str):
        return ToolResult(llm_content=value, summary=_shorten(value.strip().partition("\n")[0]))
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    text = json.dumps(to_jsonable_python(plain, fallback=str), ensure_ascii=False, indent=1)
    return ToolResult(llm_content=text)


def _first_argument(params: ToolParams) -> str:
    """The first parameter that was given, in a few words."""
    given = next((name for name in type(params).model_fields), None)
    return _shorten(" ".join(str(getattr(params, given)).split())) if given else ""


def _shorten(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"
