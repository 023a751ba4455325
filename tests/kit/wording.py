"""Finds in the source what is said to persons, and what only looks like it."""

import ast
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.kit.catalogues import PACKAGE, SPEAKERS

ROOMS = (
    "frontends", "commands", "subcommands", "setup", "doctor",
    "flags.py", "cli.py", "runtime.py", "folder.py", "resuming.py",
)  # fmt: skip
"""What persons read is written here."""
ERRORS = {"UserError", "ModelError"}
"""What they say is for persons; a ToolFailure speaks English to the model."""
BUGS = {"ValueError", "TypeError", "RuntimeError", "LookupError", "AssertionError"}
"""Exceptions whose words are for developers."""
LOGS = {"debug", "info", "warning", "error", "exception", "critical"}
_WORD = re.compile(r"(?<![\w./<>=$-])[A-Za-z][A-Za-z'’]*(?![\w/<>=$(-]|\.\w)")
_FIELD = "\0"
Text = str | tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """Where something stands in the source."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text!r}"


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the program, by its path in the package."""
    found = sorted(PACKAGE.rglob("*.py"))
    return {str(path.relative_to(PACKAGE)): _parsed(path) for path in found}


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes() -> list[tuple[str, ast.AST]]:
    """Everything in every module, each with its parent."""
    found = [(file, node) for file, tree in modules().items() for node in ast.walk(tree)]
    for _, node in found:
        for child in ast.iter_child_nodes(node):
            child.parent = node  # type: ignore[attr-defined]
    return found


def calls(*names: str) -> Iterator[tuple[str, ast.Call]]:
    """Every call of functions of these names."""
    for file, node in nodes():
        if isinstance(node, ast.Call) and _name(node.func) in names:
            yield file, node


def spoken() -> dict[Text, Place]:
    """Every text that stands in a call of a speaker, as the catalogues have it."""
    found: dict[Text, Place] = {}
    for file, call in calls(*SPEAKERS):
        speaker = _name(call.func)
        is_plural = speaker in ("trn", "mark_plural")
        texts = [arg.value for arg in call.args[: 2 if is_plural else 1] if _is_text(arg)]  # type: ignore[attr-defined]
        if texts and texts[0]:
            text = tuple(texts) if is_plural else texts[0]
            found[text] = Place(file, call.lineno, str(text))
    return found


def fields(text: str) -> set[str]:
    """The names that a text has places for; none where its braces are not meant so."""
    try:
        return {field for _, field, _, _ in string.Formatter().parse(text) if field}
    except ValueError:
        return set()


def at_import(tree: ast.Module) -> Iterator[ast.Call]:
    """The calls that are made while a module is loaded."""
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            defaults = [each for each in node.args.kw_defaults if each is not None]
            todo += [*node.decorator_list, *node.args.defaults, *defaults]
        elif isinstance(node, ast.Lambda):
            todo += node.args.defaults
        else:
            if isinstance(node, ast.Call):
                yield node
            todo += ast.iter_child_nodes(node)


def bare_words() -> Iterator[Place]:
    """What looks like prose where persons read, and is not said through a speaker."""
    for file, node in nodes():
        text = _written(node) if file.startswith(ROOMS) else ""
        if text and is_prose(text) and not _is_excused(node):
            yield Place(file, node.lineno, text.replace(_FIELD, "{}"))  # type: ignore[attr-defined]


def bare_messages() -> Iterator[Place]:
    """What errors and results say without a speaker."""
    for file, call in calls(*ERRORS):
        said = [*call.args[:1], *(each.value for each in call.keywords if each.arg == "hint")]
        yield from (Place(file, call.lineno, ast.unparse(each)) for each in said if _is_bare(each))
    for file, node in nodes():
        if isinstance(node, ast.keyword) and node.arg == "summary" and _is_bare(node.value):
            yield Place(file, node.value.lineno, ast.unparse(node.value))


def is_prose(text: str) -> bool:
    """Whether a text has two words side by side, one and a value, or is a short sentence."""
    words = _WORD.sub("w", text)
    pairs = re.search(rf"w[,;:.]? +[w{_FIELD}]|{_FIELD} +w", words)
    long = [word for word in _WORD.findall(text) if len(word) > 2]
    return bool(pairs and long) or bool(re.fullmatch(r"[A-Z][a-z]+[.!?]", text.strip()))


def _written(node: ast.AST) -> str:
    """The text of a literal, with a sign for each value in it."""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else _FIELD for part in node.values
        )
    inside = isinstance(getattr(node, "parent", None), ast.JoinedStr | ast.FormattedValue)
    return node.value if _is_text(node) and not inside else ""  # type: ignore[attr-defined,no-any-return]


def _is_excused(node: ast.AST) -> bool:
    """Whether it is said, or documentation, code, a key, or for developers."""
    child, parent = node, node.parent  # type: ignore[attr-defined]
    if isinstance(parent, ast.Expr | ast.Compare | ast.Subscript | ast.MatchValue):
        return True
    if isinstance(parent, ast.Dict) and child in parent.keys:
        return True
    while parent is not None:
        if isinstance(parent, ast.Assert | ast.arg | ast.AnnAssign) and child is not getattr(
            parent, "value", None
        ):
            return True
        if isinstance(parent, ast.Call) and _excuses(parent):
            return True
        if isinstance(parent, ast.stmt):
            return child is getattr(parent, "returns", None)
        child, parent = parent, getattr(parent, "parent", None)
    return False


def _excuses(call: ast.Call) -> bool:
    name = _name(call.func)
    owner = _name(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    is_log = owner == "log" and name in LOGS
    is_hidden = name == "Binding" and any(each.arg == "show" for each in call.keywords)
    return name in SPEAKERS or name in BUGS or owner == "re" or is_log or is_hidden


def _is_bare(node: ast.AST) -> bool:
    if isinstance(node, ast.IfExp):
        return _is_bare(node.body) or _is_bare(node.orelse)
    if isinstance(node, ast.BinOp):
        return _is_bare(node.left) or _is_bare(node.right)
    text = _written(node)
    return bool(re.search(r"[A-Za-z]{2}", text))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""
