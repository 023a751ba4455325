"""The command line as a tree of commands with their flags."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["nothing", "choice", "file", "directory", "text"]


@dataclass(frozen=True)
class Value:
    """What follows a flag, or stands by itself."""

    kind: Kind
    name: str = ""
    choices: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True)
class Flag:
    """A flag by all its names."""

    names: tuple[str, ...]
    help: str
    value: Value
    repeats: bool = False


@dataclass(frozen=True)
class Node:
    """A command, the program itself included."""

    path: tuple[str, ...]
    help: str
    flags: tuple[Flag, ...]
    values: tuple[Value, ...]
    children: tuple["Node", ...]

    @property
    def name(self) -> str:
        return self.path[-1] if self.path else ""

    def walk(self) -> Iterator["Node"]:
        """This one and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def tree(parser: argparse.ArgumentParser) -> Node:
    """What a parser understands."""
    return _node(parser, (), "")


def _node(parser: argparse.ArgumentParser, path: tuple[str, ...], told: str) -> Node:
    flags: list[Flag] = []
    values: list[Value] = []
    children: list[Node] = []
    for action in parser._actions:  # argparse has no other way to ask
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, child in action.choices.items():
                children.append(_node(child, (*path, name), helps.get(name, "")))
        elif action.option_strings:
            names = tuple(sorted(action.option_strings, key=len))
            repeats = isinstance(action, argparse._AppendAction)
            flags.append(Flag(names, action.help or "", _value(action), repeats))
        else:
            values.append(_value(action))
    return Node(path, told, tuple(flags), tuple(values), tuple(children))


def _value(action: argparse.Action) -> Value:
    if action.nargs == 0:
        return Value("nothing")
    name = action.metavar if isinstance(action.metavar, str) else action.dest
    optional = action.nargs in ("?", "*")
    if action.choices:
        return Value("choice", name, tuple(map(str, action.choices)), optional)
    kinds: dict[str, Kind] = {"FILE": "file", "DIR": "directory"}
    return Value(kinds.get(name, "text"), name, optional=optional)
