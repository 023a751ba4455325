"""What a tool is.

A tool is a value: a params model, an async function and a few words about them.

    class Params(ToolParams):
        path: str
        '''The file to count, absolute or relative to the workspace.'''

    async def run(params: Params, context: ToolContext) -> ToolResult:
        return ToolResult(llm_content=...)

    TOOL = Tool(
        name="Count", kind=ToolKind.READONLY, params=Params, run=run,
        description=Description(short="Counts the lines of a file."),
    )

The params model is the single source of the types, the validation and the JSON Schema that the
model is given. Permission is no business of a tool: the pipeline asks `targets` what a call is
about, and decides.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, GetJsonSchemaHandler, JsonValue, ValidationError, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from agent_cli.core.call_arguments import parse_arguments, rename_fields, validation_failure
from agent_cli.core.display import Display
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.field_docs import ClassSource
from agent_cli.core.messages import Content, ToolCall, ToolMessage
from agent_cli.core.tool_schema import inline_definitions, lean
from agent_cli.lib.language import mark
from agent_cli.safety.reasons import Reason

if TYPE_CHECKING:
    from agent_cli.core.tool_context import ToolContext


class ToolKind(StrEnum):
    """What a tool does to the world."""

    READONLY = "readonly"
    SESSION = "session"
    """It acts on nothing but the session: its jobs, its agents."""
    WRITE = "write"
    EXECUTE = "execute"


HARMLESS = frozenset({ToolKind.READONLY, ToolKind.SESSION})
"""What changes nothing outside of the session needs no permission."""


class ToolParams(BaseModel, frozen=True, extra="ignore"):
    """The base of every params model. Field docstrings are what the model reads."""

    _source: ClassVar[ClassSource | None] = None

    @classmethod
    def __pydantic_init_subclass__(cls, **_kwargs: Any) -> None:
        cls._source = ClassSource.of(cls)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler.resolve_ref_schema(handler(core))
        for made in cls.__mro__:
            source = made.__dict__.get("_source")
            for name, words in source.field_docs().items() if source else ():
                schema["properties"][name].setdefault("description", words)
        return schema

    @model_validator(mode="before")
    @classmethod
    def _refuse_unsendable_text(cls, data: Any) -> Any:
        """NUL and lone surrogates can reach neither a file name, nor a process, nor a log."""
        if isinstance(data, Mapping):
            for name, value in data.items():
                if isinstance(value, str) and (problem := _unsendable(value)):
                    raise ValueError(f"{name} contains {problem}")
        return data


def _unsendable(text: str) -> str | None:
    if "\0" in text:
        return "a NUL character"
    if not text.isascii() and re.search("[\ud800-\udfff]", text):
        return "a lone surrogate, which is not a character"
    return None


class ToolError(BaseModel, frozen=True):
    """Why a call failed: the tool's own English, and what a view needs to say a refusal itself."""

    type: FailureType
    message: str
    details: str = ""
    reasons: tuple[Reason, ...] = ()
    """Why it was not permitted."""
    declined: bool = False
    """The user said no, with these words or none."""
    words: str = ""


class ToolResult(BaseModel, frozen=True):
    """What came of a call: `llm_content` for the model, `summary` and `display` for the user."""

    success: bool = True
    llm_content: Content = ""
    display: tuple[Display, ...] = ()
    """What the user sees when the call is unfolded; empty: the text the model got."""
    summary: str = ""
    """One line with figures: "Read 120 lines"."""
    error: ToolError | None = None
    metadata: dict[str, JsonValue] = {}

    @classmethod
    def from_failure(cls, failure: ToolFailure, *, summary: str = "") -> Self:
        """The result a failure becomes."""
        return cls(
            success=False,
            llm_content="\n".join(filter(None, (failure.message, failure.details))),
            summary=summary or failure.message.split("\n", 1)[0],
            error=ToolError.model_validate(failure, from_attributes=True),
        )

    def as_message(self, call: ToolCall) -> ToolMessage:
        """What the model reads of it."""
        content = self.llm_content or "(no output)"
        return ToolMessage(
            call_id=call.id,
            name=call.name,
            content=content,
            is_error=not self.success,
            is_declined=self.error is not None and self.error.declined,
        )


class Description(BaseModel, frozen=True):
    """What the model is told about a tool, in layers."""

    short: str
    long: str = ""
    usage_notes: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    important: tuple[str, ...] = ()

    @property
    def first_sentence(self) -> str:
        """What the tool does, in one sentence."""
        return re.split(r"(?<=\.)\s", self.short, maxsplit=1)[0]

    @classmethod
    def beside(cls, module_file: str) -> Self:
        """Read `<name>.md` beside a tool's module: a first paragraph, then optional sections."""
        text = Path(module_file).with_suffix(".md").read_text(encoding="utf-8")
        opening, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
        short, _, long = opening.strip().partition("\n\n")
        layers: dict[str, tuple[str, ...]] = {}
        for section in sections:
            title, _, body = section.partition("\n")
            points = map(str.strip, re.split(r"^- ", body.strip(), flags=re.MULTILINE))
            layers[title.strip().lower().replace(" ", "_")] = tuple(filter(None, points))
        return cls(short=short, long=long, **layers)

    @cached_property
    def for_model(self) -> str:
        """All layers as the one text a function declaration carries."""
        parts = [self.short, self.long]
        parts += [f"- {note}" for note in self.usage_notes]
        parts += [f"Important: {note}" for note in self.important]
        parts += [f"Example: {example}" for example in self.examples]
        return "\n".join(filter(None, parts))


@dataclass(frozen=True)
class Target:
    """One thing a call is about: what rules match and the user is shown."""

    kind: Literal["path", "command", "host", "name"]
    value: str
    access: Literal["read", "write", "execute"] = "read"
    base: str | None = None
    """Where a relative path or a command starts, when it isn't the session's directory."""


@dataclass(frozen=True)
class StatusTexts:
    """The status line of a call: while it runs and when it failed. Success is the summary."""

    pending: str = mark("Running…")
    error: str = mark("Failed")


P = TypeVar("P", bound=ToolParams)

MakePreview = Callable[[P, "ToolContext"], Awaitable[Display | None]]
Discover = Callable[[P, "ToolContext"], Awaitable[tuple[Target, ...]]]


@dataclass(frozen=True, kw_only=True)
class Tool(Generic[P]):
    """A tool, whole. Only the first five fields have no default."""

    name: str
    kind: ToolKind
    params: type[P]
    description: Description
    run: Callable[[P, ToolContext], Awaitable[ToolResult]]

    targets: Callable[[P], tuple[Target, ...]] = lambda _params: ()
    """What a call touches; what permission rules match."""
    discover: Discover[P] | None = None
    """Targets that only a look can tell, such as the files a search finds; instead of `targets`."""
    kind_of: Callable[[P], ToolKind] | None = None
    """A milder kind for some parameters: a preview changes nothing."""
    title: Callable[[P], str] = lambda _params: ""
    """The main argument in a few words, always visible: "src/app.py 1-120"."""
    preview: MakePreview[P] | None = None
    """What the confirmation shows: a diff, for instance."""
    rule: Callable[[P], str | None] | None = None
    """The rule that "always" would add, if the tool knows better than its targets tell."""
    is_dangerous: Callable[[P], bool] = lambda _params: False
    """Asks in every mode but yolo, and no "always" is offered."""
    is_enabled: Callable[[], bool] = lambda: True
    display_name: str = ""
    version: str = "1.0"
    category: str = "general"
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    """Other names by which models ask for this tool."""
    param_aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names by which models give its parameters."""
    status: StatusTexts = StatusTexts()
    is_concurrency_safe: bool | None = None
    """May run beside other calls; by default what is harmless may."""
    requires_permission: bool | None = None
    """Whether it may ask the user; by default what isn't harmless does."""
    runs_in_shell: bool = False
    """Its command runs in the session's shell, exactly as named, and confined if so decided."""
    timeout: float | None = 120.0
    """Seconds; None for a tool that keeps its own time or waits for the user."""
    modes: tuple[str, ...] = ()
    """The permission modes it is offered in; empty: all."""
    role: str | None = None
    """The role a profile must have to use it."""

    def __post_init__(self) -> None:
        harmless = self.kind in HARMLESS
        defaults = {"is_concurrency_safe": harmless, "requires_permission": not harmless}
        for name, default in defaults.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, default)
        object.__setattr__(self, "display_name", self.display_name or self.name)

    @property
    def is_read_only(self) -> bool:
        """Whether it changes nothing."""
        return self.kind is ToolKind.READONLY

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the parameters, as lean as a model can use it."""
        whole = self.params.model_json_schema()
        definitions = whole.pop("$defs", {})
        whole.pop("description", None)  # the class's docstring: the tool is described elsewhere
        schema: dict[str, Any] = lean(inline_definitions(whole, definitions))
        return schema

    @cached_property
    def declaration(self) -> dict[str, Any]:
        """The tool in the OpenAI function format."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description.for_model,
                "parameters": self.schema,
            },
        }

    def bind(self, arguments: str | Mapping[str, Any]) -> Invocation[P]:
        """Parse and validate the arguments of a call; raises a failure the model can act upon."""
        given = parse_arguments(arguments, self.name, self.schema)
        given, notes = rename_fields(given, self.params.model_fields, self.param_aliases)
        try:
            params = self.params.model_validate(given)
        except ValidationError as error:
            raise validation_failure(self.name, error, self.schema, notes) from error
        return Invocation(self, params, tuple(notes))

    def with_changes(self, **changes: Any) -> Tool[P]:
        """A copy that differs in some fields."""
        return replace(self, **changes)


AnyTool = Tool[Any]


@dataclass(frozen=True)
class Invocation(Generic[P]):
    """A tool and valid parameters for it: everything needed to decide, show and run a call."""

    tool: Tool[P]
    params: P
    notes: tuple[str, ...] = ()
    """What was tacitly put right in the arguments, for the model to know."""
    found: tuple[Target, ...] = ()
    """What the tool discovered it would touch."""

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """What this call touches."""
        return self.found or self.tool.targets(self.params)

    @property
    def kind(self) -> ToolKind:
        """What this call does to the world outside of the session."""
        kind = self.tool.kind_of(self.params) if self.tool.kind_of else self.tool.kind
        return ToolKind.READONLY if kind in HARMLESS else kind

    @property
    def title(self) -> str:
        """The main argument in a few words."""
        return self.tool.title(self.params)

    @property
    def signature(self) -> str:
        """What permission rules are matched against, as one line."""
        inner = ", ".join(target.value for target in self.targets)
        return f"{self.tool.name}({inner})" if inner else self.tool.name

    @property
    def is_dangerous(self) -> bool:
        """Whether the tool itself calls these parameters dangerous."""
        return self.tool.is_dangerous(self.params)

    def run(self, context: ToolContext) -> Awaitable[ToolResult]:
        """Start the tool's own function."""
        return self.tool.run(self.params, context)
