"""One table of keys: no two actions want the same one, and none is taken from a text field unseen."""

import importlib
import pkgutil
import re
from collections import Counter
from pathlib import Path

import pytest
from textual.dom import DOMNode
from textual.widgets import Input, TextArea

from agent_cli.frontends import tui
from agent_cli.frontends.shared.keys import KEYS, SIGNS, View, help_rows, label
from agent_cli.frontends.tui.prompt import Prompt

ROOT = Path(__file__).parents[3]
FIELDS = (TextArea, Input)
TAKEN_BY_MODALS = {
    ("SessionsModal", key) for key in ("down", "up", "pagedown", "pageup", "enter")
} | {("SetupScreen", "ctrl+c")}
"""Keys that a screen with a text field in it takes from that field on purpose."""


def owned(field: type[DOMNode]) -> dict[str, str]:
    """The keys a text field has a use for, and the name of its action."""
    bindings = field._merge_bindings().key_to_bindings
    return {key: found[0].action.partition("(")[0] for key, found in bindings.items()}


@pytest.mark.parametrize("view", ["screen", "inline"])
@pytest.mark.parametrize("scopes", [("app", "prompt"), ("app", "transcript")])
def test_no_two_actions_want_the_same_key(view: View, scopes: tuple[str, ...]) -> None:
    wanted = Counter(name for key in KEYS if key.scope in scopes for name in key.of(view))
    assert {name for name, times in wanted.items() if times > 1} == set()


def test_a_key_of_the_text_field_is_overridden_only_where_the_table_says_so() -> None:
    writing = owned(TextArea)
    for key in KEYS:
        if key.scope == "prompt":
            assert set(key.overrides) == set(key.keys) & set(writing), key.action


def test_a_key_of_the_app_reaches_it_while_somebody_writes() -> None:
    """The field handles its keys first, unless the prompt gives up its action."""
    for name, action in owned(TextArea).items():
        for key in KEYS:
            if key.scope == "app" and not key.priority and name in key.keys:
                method = f"action_{action}"
                assert getattr(Prompt, method) is not getattr(TextArea, method), (name, action)


def test_no_screen_takes_a_key_from_its_text_field_unseen() -> None:
    for module in pkgutil.walk_packages(tui.__path__, f"{tui.__name__}."):
        importlib.import_module(module.name)
    taken = {
        (each.__name__, key)
        for each in subclasses(DOMNode)
        if each.__module__.startswith(tui.__name__)
        for key, found in each._merge_bindings().key_to_bindings.items()
        if any(binding.priority for binding in found)
        and any(key in owned(field) for field in FIELDS)
    }
    named = {
        (owner, name) for key in KEYS for name in key.keys for owner, _ in taken if key.priority
    }
    assert taken - named == TAKEN_BY_MODALS


def subclasses(of: type[DOMNode]) -> set[type[DOMNode]]:
    return {below for child in of.__subclasses__() for below in {child, *subclasses(child)}}


def test_keys_are_written_as_people_write_them() -> None:
    assert label("shift+enter") == "Shift+Enter"
    assert label("escape escape") == "Esc Esc"
    assert dict(help_rows())["↑"] == "earlier prompt"
    assert dict(help_rows())["Shift+Enter"].endswith("also Alt+Enter, Ctrl+J, Ctrl+Enter")


@pytest.mark.parametrize(
    ("page", "view"),
    [("README.md", "screen"), ("README.zh.md", "screen"), ("docs/inline.md", "inline")],
)
def test_the_documented_keys_exist(page: str, view: View) -> None:
    known = {label(name) for key in KEYS for name in key.of(view)} | {sign for sign, _ in SIGNS}
    text = (ROOT / page).read_text(encoding="utf-8")
    cells = re.findall(r"^\| ([^|]*(?:Enter|Esc|Ctrl|Shift|↑|Tab|F1)[^|]*) \|", text, re.MULTILINE)
    named = {
        name
        for cell in cells
        for name in re.findall(r"(?:Shift|Alt|Ctrl)\+\w+|Esc|Enter|Tab|F1|[↑↓]", cell)
    }
    assert len(named) >= 9
    assert named - known == set()
