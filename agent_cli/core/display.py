"""Display blocks: what the user sees of a tool call, in any frontend.

A tool describes its result with these; a frontend knows how to draw each of them. Text in a block
is foreign text: a frontend sanitises it before it reaches a terminal.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, Field


class Block(BaseModel, frozen=True):
    """The base of all blocks."""


class TextBlock(Block):
    """Plain text, or source text when `language` is given."""

    type: Literal["text"] = "text"
    text: str
    language: str = ""
    first_line: int | None = None
    """The number of the first line, when the text is a part of a file."""


class DiffBlock(Block):
    """A change to one file as a unified diff."""

    type: Literal["diff"] = "diff"
    path: str
    diff: str
    added: int = 0
    removed: int = 0


class TerminalBlock(Block):
    """What a command printed; escape sequences are still in it."""

    type: Literal["terminal"] = "terminal"
    command: str
    output: str
    exit_code: int | None = None


class TableBlock(Block):
    """Rows under headings."""

    type: Literal["table"] = "table"
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class TodoItem(Block):
    """One entry of a todo list."""

    text: str
    status: Literal["pending", "in_progress", "completed"] = "pending"


class TodoBlock(Block):
    """A todo list."""

    type: Literal["todo"] = "todo"
    items: tuple[TodoItem, ...]


class ImageBlock(Block):
    """A picture, named and measured; frontends that cannot draw it say what it is."""

    type: Literal["image"] = "image"
    path: str
    media_type: str
    width: int | None = None
    height: int | None = None


Display = Annotated[
    TextBlock | DiffBlock | TerminalBlock | TableBlock | TodoBlock | ImageBlock,
    Field(discriminator="type"),
]
