"""Keeps the list of what there is to do."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, field_validator, model_validator

from agent_cli.core.display import TodoBlock, TodoItem
from agent_cli.core.tool import Description, StatusTexts, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.language import mark, tr
from agent_cli.tools._aliases import names, other_names
from agent_cli.tools._lists import read_list, rename_keys

MAX_ITEMS = 100

_NAMES = {"content": ("text", "title", "task", "step", "name", "description"), "status": ("state",)}
_STATUSES = other_names(
    pending="notstarted todo open",
    in_progress="inprogress doing active",
    completed="done complete finished",
)


class Todo(ToolParams):
    """One item."""

    content: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
    status: Literal["pending", "in_progress", "completed"] = "pending"

    @model_validator(mode="before")
    @classmethod
    def _usual_names(cls, data: Any) -> Any:
        return rename_keys(data, _NAMES)

    @field_validator("status", mode="before")
    @classmethod
    def _usual_words(cls, status: Any) -> Any:
        if status is True or status is False:
            return "completed" if status else "pending"
        if not isinstance(status, str):
            return status
        plain = status.strip().lower().replace("-", "").replace("_", "").replace(" ", "")
        return _STATUSES.get(plain, status.strip().lower())


class Params(ToolParams):
    """The list."""

    todos: Annotated[list[Todo], Field(max_length=MAX_ITEMS), BeforeValidator(read_list)]
    """The whole list in order, with at most one item in_progress."""

    @field_validator("todos")
    @classmethod
    def _one_at_a_time(cls, todos: list[Todo]) -> list[Todo]:
        active = [todo.content for todo in todos if todo.status == "in_progress"]
        if len(active) > 1:
            names = ", ".join(repr(content) for content in active)
            raise ValueError(f"only one item may be in_progress, not {len(active)} ({names})")
        return todos


class TodoList:
    """The session's list."""

    def __init__(self) -> None:
        self.items: tuple[TodoItem, ...] = ()

    def figures(self, say: Callable[..., str] = str.format) -> str:
        """ "1 of 3 done, 1 in progress", in the words of `say`."""
        if not self.items:
            return say(mark("The list is empty"))
        done = sum(item.status == "completed" for item in self.items)
        active = sum(item.status == "in_progress" for item in self.items)
        if not active:
            return say(mark("{done} of {all} done"), done=done, all=len(self.items))
        text = mark("{done} of {all} done, {active} in progress")
        return say(text, done=done, all=len(self.items), active=active)


async def run(params: Params, context: ToolContext) -> ToolResult:
    """Put the new list in place of the old one."""
    kept = context.state(TodoList)
    kept.items = tuple(TodoItem(text=todo.content, status=todo.status) for todo in params.todos)
    return ToolResult(
        llm_content=f"{kept.figures()}.",
        summary=kept.figures(tr),
        display=(TodoBlock(items=kept.items),),
    )


def _title(params: Params) -> str:
    """What is being worked on."""
    return next((todo.content for todo in params.todos if todo.status == "in_progress"), "")


TOOL = Tool(
    name="TodoWrite",
    kind=ToolKind.READONLY,  # it changes nothing but what the user sees
    params=Params,
    run=run,
    description=Description.beside(__file__),
    display_name=mark("Todo list"),
    title=_title,
    aliases=names(
        "todo todos write_todos write_todo_list update_todos update_todo_list set_todo_list "
        "manage_todo_list update_plan"
    ),
    param_aliases={"plan": "todos", "items": "todos", "tasks": "todos", "todo_list": "todos"},
    category="planning",
    status=StatusTexts(mark("Updating the list…"), mark("Todo list failed")),
    is_concurrency_safe=False,  # the last list written is the one that stays
)
