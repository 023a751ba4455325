"""The names that a reader would need a dictionary for do not come back: docs/glossary.md has ours."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "agent_cli"
CLASSES = """
    Wishes Desk ScreenDesk InlineDesk EditorDesk SetupDesk Scribe Teller Household Housekeeping
    Treasurer Purse Economy Ledger Hearing Authority Judgement Ruling Course Outgoing Errand
    Handback Wearing Written Ran Said Kept Place Look Git Change Answer Standing Records Asked
    Opened Nowhere
"""
FUNCTIONS = """
    told shown listed found heard struck said filled settled carried_out answered rendered drawn
"""
CONSTANTS = """
    MOST ENOUGH NOTHING OURS LONGEST LARGEST DEEPEST SECONDS PATIENCE GROWTH NEWEST WORTH_A_LOOK
    KEEP_LAST EVERYTHING
"""
BANNED = {
    kind: frozenset(names.split())
    for kind, names in (("class", CLASSES), ("function", FUNCTIONS), ("constant", CONSTANTS))
}
NAMED_BY_THEIR_USERS = ("commands", "subcommands", "tools")
"""Folders whose modules are named after what the user or the model types."""
ENTRY_POINTS = frozenset({"__init__.py", "__main__.py", "start.py"})


def modules() -> Iterator[Path]:
    """Ours, without what is no code."""
    return (path for path in sorted(PACKAGE.rglob("*.py")) if "__pycache__" not in path.parts)


def definitions(tree: ast.Module) -> Iterator[tuple[str, str, int]]:
    """What a module defines for itself and in its classes: kind, name, line."""
    bodies = [(tree.body, False)]
    while bodies:
        body, is_class = bodies.pop()
        for node in body:
            match node:
                case ast.ClassDef(name=name):
                    yield "class", name, node.lineno
                    bodies.append((node.body, True))
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    if not any("property" in ast.unparse(each) for each in node.decorator_list):
                        yield "function", name, node.lineno
                case (
                    ast.Assign(targets=[ast.Name(id=name)])
                    | ast.AnnAssign(target=ast.Name(id=name))
                ):
                    if not is_class:
                        yield "constant", name, node.lineno


def test_no_name_needs_a_dictionary() -> None:
    found = [
        f"{path.relative_to(PACKAGE.parent)}:{line}: {kind} {name}"
        for path in modules()
        for kind, name, line in definitions(ast.parse(path.read_text("utf-8")))
        if name.lstrip("_") in BANNED[kind]
    ]

    assert not found, "rename these, with a word of docs/glossary.md:\n" + "\n".join(found)


def test_no_two_modules_share_a_file_name() -> None:
    places = defaultdict(list)
    for path in modules():
        is_typed = path.parent.parent == PACKAGE and path.parent.name in NAMED_BY_THEIR_USERS
        if path.name not in ENTRY_POINTS and not is_typed:
            places[path.name].append(str(path.relative_to(PACKAGE)))

    shared = [" and ".join(paths) for paths in places.values() if len(paths) > 1]

    assert not shared, "give these file names of their own:\n" + "\n".join(sorted(shared))
