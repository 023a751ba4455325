"""Nothing is started in the background without a guard: found by looking at the source."""

import ast
from collections.abc import Iterator
from pathlib import Path

import agent_cli.frontends

FOLDER = Path(agent_cli.frontends.__file__).parent
STARTS = {"run_worker", "create_task", "ensure_future", "push_screen_wait", "@work"}
GUARDS = {"tui/guarded_app.py: run_worker"}
"""Where a guard itself starts what it guards."""


def unguarded(folder: str) -> Iterator[str]:
    for file in sorted((FOLDER / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            for name in _called(node):
                if name in STARTS:
                    yield f"{file.relative_to(FOLDER)}: {name}"


def _called(node: ast.AST) -> Iterator[str]:
    """The name of what is called, or of what a function is decorated with."""
    if isinstance(node, ast.Call):
        yield _name(node.func)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from (f"@{_name(each)}" for each in node.decorator_list)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def test_background_work_is_started_by_a_guard() -> None:
    found = {each for folder in ("tui", "web", "shared") for each in unguarded(folder)}
    assert found == GUARDS
