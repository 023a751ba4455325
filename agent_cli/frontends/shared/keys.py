"""Every key in one table: the views bind from it, help and documentation are written from it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from agent_cli.lib.language import mark, tr

Scope = Literal["app", "prompt", "transcript"]
View = Literal["screen", "inline"]


@dataclass(frozen=True)
class Key:
    """What a key does. Keys are written as Textual names them."""

    action: str
    keys: tuple[str, ...]
    does: str
    scope: Scope = "prompt"
    """Where it works: everywhere, while writing, or while the transcript has the focus."""
    inline: tuple[str, ...] | None = None
    """The keys of the inline view, if they are others; empty: it has none."""
    overrides: tuple[str, ...] = ()
    """Of the keys, those that a text field would use for something else."""
    priority: bool = False
    """Works whatever has the focus, modals included."""
    built_in: bool = False
    """The screen library binds it; the table only documents it."""

    def of(self, view: View) -> tuple[str, ...]:
        """Its keys in a view."""
        return self.keys if view == "screen" or self.inline is None else self.inline


_on_screen = partial(Key, inline=())
"""A key that the inline view does not have."""
KEYS = (
    Key("send", ("enter",), mark("send; while the agent is working, queue")),
    Key(
        "new_line",
        ("shift+enter", "alt+enter", "ctrl+j", "ctrl+enter"),
        mark("new line (or \\ before Enter)"),
        inline=("alt+enter", "ctrl+j"),
    ),
    Key("interrupt", ("escape",), mark("edit a queued message, or stop the agent")),
    _on_screen("rewind", ("escape escape",), mark("go back to an earlier prompt")),
    Key(
        "cancel",
        ("ctrl+c",),
        mark("clear the prompt; then stop the agent; twice to quit"),
        overrides=("ctrl+c",),
    ),
    Key("next_mode", ("shift+tab",), mark("next permission mode"), "app", priority=True),
    Key("complete", ("tab",), mark("complete a /command or an @file"), built_in=True),
    Key("earlier", ("up",), mark("earlier prompt"), overrides=("up",)),
    Key("later", ("down",), mark("later prompt"), overrides=("down",)),
    Key("search", ("ctrl+r",), mark("search earlier prompts")),
    _on_screen(
        "expand", ("ctrl+e",), mark("expand the paste at the cursor"), overrides=("ctrl+e",)
    ),
    Key("edit", ("ctrl+g",), mark("write in your editor")),
    _on_screen(
        "undo_typing",
        ("ctrl+z", "ctrl+y"),
        mark("undo, redo typing"),
        overrides=("ctrl+z", "ctrl+y"),
        built_in=True,
    ),
    _on_screen("page(-1)", ("pageup",), mark("scroll up"), "app"),
    _on_screen("page(1)", ("pagedown",), mark("scroll down"), "app"),
    _on_screen("fold_all", ("ctrl+o",), mark("expand or collapse all results"), "app"),
    _on_screen("panel", ("ctrl+b",), mark("side panel"), "app", priority=True),
    _on_screen("command_palette", ("ctrl+p",), mark("search all commands"), "app", built_in=True),
    _on_screen("help", ("f1",), mark("keys and commands"), "app"),
    Key("leave", ("ctrl+q",), mark("quit"), "app", inline=("ctrl+d",)),
    _on_screen("select(-1)", ("up",), mark("select the block above"), "transcript"),
    _on_screen("select(1)", ("down",), mark("select the block below"), "transcript"),
    _on_screen(
        "fold", ("enter", "space"), mark("expand or collapse the selected block"), "transcript"
    ),
    _on_screen("follow", ("end",), mark("jump to the newest"), "transcript"),
    _on_screen("retry", ("r",), mark("retry a turn that failed"), "transcript"),
)
SIGNS = (
    ("/", mark("a command")),
    ("@", mark("a file")),
    ("!", mark("a shell command; the model sees its output")),
)
"""What a prompt can begin with, and what names a file in it."""
MAX_LABEL_CHARS = 16
_LABELS = {"escape": "Esc", "up": "↑", "down": "↓", "pageup": "PageUp", "pagedown": "PageDown"}


def bindings_for(scope: Scope, view: View = "screen") -> Iterator[Key]:
    """The keys that a view has to bind in a scope."""
    return (key for key in KEYS if key.scope == scope and key.of(view) and not key.built_in)


def actions(scope: Scope, view: View = "screen") -> dict[str, str]:
    """Which action each key of a scope stands for."""
    return {name: key.action for key in bindings_for(scope, view) for name in key.of(view)}


def label(key: str) -> str:
    """A key as people write it: "Shift+Enter", "Esc Esc"."""
    if " " in key:
        return " ".join(map(label, key.split()))
    return "+".join(_LABELS.get(part, part.capitalize()) for part in key.split("+"))


def help_rows(view: View = "screen") -> list[tuple[str, str]]:
    """What the help shows: keys and what they do, in the language in use."""
    rows = [_row(key, view) for key in KEYS if key.of(view) and key.scope != "transcript"]
    return [*rows, *((sign, tr(does)) for sign, does in SIGNS)]


def _row(key: Key, view: View) -> tuple[str, str]:
    first, *others = map(label, key.of(view))
    if len(" ".join((first, *others))) <= MAX_LABEL_CHARS:
        return " ".join((first, *others)), tr(key.does)
    also = ", ".join(others)
    return first, tr("{does}; also {keys}", does=tr(key.does), keys=also)
