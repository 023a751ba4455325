"""The words under the fields of a class, read from its source when they are first wanted.

pydantic offers the same (`use_attribute_docstrings`), but looks through every loaded module for
the source of each class, whether the words are needed or not: a third of the time in which all
tools are registered.
"""

import ast
import inspect
import linecache
import sys
from dataclasses import dataclass
from textwrap import dedent


@dataclass(frozen=True)
class ClassSource:
    """Where a class statement stands."""

    name: str
    file: str
    line: int

    @classmethod
    def of(cls, made: type) -> "ClassSource | None":
        """The statement that is making this class; only from within its making."""
        frame = sys._getframe(1)
        while frame.f_globals.get("__name__") != made.__module__:
            if frame.f_back is None:
                return None
            frame = frame.f_back
        return cls(made.__name__, frame.f_code.co_filename, frame.f_lineno)

    def field_docs(self) -> dict[str, str]:
        """Each field that has words under it, and the words; nothing where there is no source."""
        statement = self._statement()
        if statement is None:
            return {}
        docs: dict[str, str] = {}
        for field, below in zip(statement.body, statement.body[1:], strict=False):
            match field, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(words))),
                ):
                    docs[name] = inspect.cleandoc(words)
        return docs

    def _statement(self) -> ast.ClassDef | None:
        lines = linecache.getlines(self.file)[self.line - 1 :]
        for block in (_take_indented, inspect.getblock):  # the second is exact, and slow
            try:
                found = ast.parse(dedent("".join(block(lines)))).body[0]
            except (SyntaxError, IndexError):
                continue
            if isinstance(found, ast.ClassDef) and found.name == self.name:
                return found
        return None


def _take_indented(lines: list[str]) -> list[str]:
    """The first line and all that are indented under it."""
    edge = _indent(lines[0])
    for number, line in enumerate(lines[1:], 1):
        if line.strip() and _indent(line) <= edge:
            return lines[:number]
    return lines


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
