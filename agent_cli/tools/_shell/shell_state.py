"""What a shell hands on to the next one: directory, variables, functions and aliases.

A command's shell writes its state down when it ends. That text is read as data: nothing of it is
ever run as it stands, and what the next shell is given is written anew from what was understood.
So a state that lies can only lead to a shell that we know, never to one that we don't.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from agent_cli.safety.tokens import words

MAX_VALUE_BYTES = 100_000
MAX_FUNCTION_CHARS = 500_000
"""Characters of all functions: they travel in the environment, which has a limit."""
MAX_DUMP_BYTES = 4_000_000

# What bash keeps for itself, and what belongs to one command only.
_OWN_VARIABLES = words(
    """
    BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND
    BASH_EXECUTION_STRING BASH_LINENO BASH_MONOSECONDS BASH_REMATCH BASH_SOURCE BASH_SUBSHELL
    BASH_TRAPSIG BASH_VERSINFO BASH_VERSION COLUMNS COMP_WORDBREAKS COPROC DIRSTACK EPOCHREALTIME
    EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD LINENO LINES MAPFILE OPTARG OPTIND PIPESTATUS PPID PWD
    RANDOM REPLY SECONDS SHELLOPTS SHLVL SRANDOM UID _ AGENT_CALL
    """
)
DUMP = "__agent_dump"
# Functions of these names would come between us and the shell.
UNKEPT_FUNCTIONS = words(
    f"alias builtin declare eval exec exit export printf read return set shopt trap unset {DUMP}"
)

Value = str | tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Variable:
    """A variable: its attributes as bash's letters, and its value or its elements."""

    attributes: str
    value: Value


@dataclass(frozen=True)
class ShellState:
    """How a shell differs from a fresh one."""

    directory: str | None = None
    variables: Mapping[str, Variable] = field(default_factory=dict)
    unset: frozenset[str] = frozenset()
    """Variables that a fresh shell has and this one doesn't."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """Bodies by name, from their opening brace on."""
    exported_functions: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    """What could not be kept, in words."""


class UnreadableState(ValueError):
    """A dump that is cut short or no dump at all."""


def read_variables(dump: bytes) -> dict[str, Variable]:
    """The variables in a dump, as a fresh shell has them."""
    return _Variables(_sections(dump)[1]).found


def read_state(dump: bytes, fresh: Mapping[str, Variable]) -> ShellState:
    """How the shell that wrote this dump differs from a fresh one."""
    directory, variables, aliases, names, bodies = _sections(dump)
    read = _Variables(variables)
    if not read.found:
        raise UnreadableState  # something stood between us and bash
    functions, exported, unkept = _functions(names, bodies)
    return ShellState(
        directory=directory,
        variables={
            name: variable for name, variable in read.found.items() if fresh.get(name) != variable
        },
        unset=frozenset(fresh.keys() - read.found.keys() - read.dropped.keys()),
        functions=functions,
        exported_functions=exported,
        aliases=_aliases(aliases),
        dropped=(*read.dropped.values(), *unkept),
    )


def prelude(state: ShellState) -> str:
    """Bash text that brings a fresh shell into this state, but for functions and aliases."""
    lines = [f"unset -v {name}" for name in sorted(state.unset)]
    lines += [_declaration(name, variable) for name, variable in state.variables.items()]
    hidden = sorted(state.functions.keys() - state.exported_functions)
    lines += [f"export -nf -- {_quote(name)}" for name in hidden]
    return "\n".join(lines)


def alias_lines(state: ShellState) -> str:
    """Bash text that defines the aliases."""
    return "\n".join(
        f"\\alias -- {_quote(name)}={_quote(text)}" for name, text in state.aliases.items()
    )


def function_variables(state: ShellState) -> dict[str, str]:
    """The functions as environment variables.

    Bash takes exactly one function definition from each of these and refuses anything after it,
    so unlike text that is evaluated they cannot smuggle in a command.
    """
    return {f"BASH_FUNC_{name}%%": f"() {body}" for name, body in state.functions.items()}


def _sections(dump: bytes) -> list[str]:
    parts = dump.decode("utf-8", "surrogateescape").split("\0")
    if len(parts) < 7 or parts[5] != "done":
        raise UnreadableState
    return parts[:5]


_HEADER = re.compile(r"declare -([A-Za-z-]+) ([A-Za-z_][A-Za-z0-9_]*)(=|\n|\Z)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\$\'((?:[^\'\\]|\\.)*)\'', re.DOTALL)
_SUBSCRIPT = re.compile(
    r'\[(?:("(?:[^"\\]|\\.)*"|\$\'(?:[^\'\\]|\\.)*\')|([^\]"\'$`\\\s]*))\]=', re.DOTALL
)
_NEXT = re.compile(r"\ndeclare -")


class _Variables:
    """Reads what `declare -p` prints."""

    def __init__(self, text: str) -> None:
        self.found: dict[str, Variable] = {}
        self.dropped: dict[str, str] = {}
        self._text = text
        self._read()

    def _read(self) -> None:
        at = 0
        while header := _HEADER.match(self._text, at):
            attributes, name = header[1].replace("-", ""), header[2]
            at = header.end()
            if header[3] == "=":
                parsed = self._value(at)
                if parsed is None:
                    self._drop(name, "could not be read")
                    following = _NEXT.search(self._text, at)
                    at = following.start() + 1 if following else len(self._text)
                    continue
                value, at = parsed
                at += 1
                self._take(name, Variable(attributes, value))

    def _take(self, name: str, variable: Variable) -> None:
        if name in _OWN_VARIABLES:
            return
        if size_of(variable.value) > MAX_VALUE_BYTES:
            self._drop(name, "is too large to be kept")
        elif "i" in variable.attributes and not _is_number(variable.value):
            self._drop(name, "is no number")  # assigning it would evaluate it
        else:
            self.found[name] = variable

    def _drop(self, name: str, why: str) -> None:
        if name not in _OWN_VARIABLES:
            self.dropped[name] = f"the variable {name} {why}"

    def _value(self, at: int) -> tuple[Value, int] | None:
        if quoted := _QUOTED.match(self._text, at):
            return _unquote(quoted), quoted.end()
        if self._text.startswith("(", at):
            return self._elements(at + 1)
        return None

    def _elements(self, at: int) -> tuple[Value, int] | None:
        elements: list[tuple[str, str]] = []
        while not self._text.startswith(")", at):
            subscript = _SUBSCRIPT.match(self._text, at)
            value = _QUOTED.match(self._text, subscript.end()) if subscript else None
            if subscript is None or value is None:
                return None
            key = subscript[2]
            if subscript[1] is not None:
                quoted = _QUOTED.match(subscript[1])
                key = _unquote(quoted) if quoted else ""
            elements.append((key, _unquote(value)))
            at = value.end()
            if self._text.startswith(" ", at):
                at += 1
        return tuple(elements), at + 1


def size_of(value: Value) -> int:
    """Characters of a value."""
    if isinstance(value, str):
        return len(value)
    return sum(len(key) + len(element) for key, element in value)


def _is_number(value: Value) -> bool:
    texts = [value] if isinstance(value, str) else [element for _, element in value]
    return all(re.fullmatch(r"-?\d*", text) for text in texts)


_ESCAPE = re.compile(
    rb"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|(.))",
    re.DOTALL,
)
_LETTERS = {
    b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v",
    b"e": b"\x1b", b"E": b"\x1b",
}  # fmt: skip


def _unquote(quoted: re.Match[str]) -> str:
    if quoted[1] is not None:
        return re.sub(r'\\([$`"\\\n])', lambda found: found[1].strip("\n"), quoted[1])

    def decode(found: re.Match[bytes]) -> bytes:
        octal, hexadecimal, short, long, letter = found.groups()
        if octal:
            return bytes([int(octal, 8) & 0xFF])
        if hexadecimal:
            return bytes([int(hexadecimal, 16)])
        if short or long:
            return chr(int(short or long, 16) % 0x110000).encode("utf-8", "surrogatepass")
        return _LETTERS.get(letter, letter)

    raw = quoted[2].encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(decode, raw).replace(b"\0", b"").decode("utf-8", "surrogateescape")


_ALIAS = re.compile(r"alias (?:-- )?([^\s/$`=|&;()<>\"'\\]+)=((?:'[^']*'|\\')*)\n")


def _aliases(text: str) -> dict[str, str]:
    return {
        found[1]: found[2].replace("'\\''", "\0").replace("'", "").replace("\0", "'")
        for found in _ALIAS.finditer(text)
    }


_FUNCTION_NAME = re.compile(r"declare -f([a-z]*) ([^\s/$`\"'\\=%;&|<>()]+)\n")


# An exported function is followed by a line that says so.
_ATTRIBUTES = re.compile(r"\ndeclare -f[a-z]+ [^\n]*\Z")


def _functions(names: str, bodies: str) -> tuple[dict[str, str], frozenset[str], list[str]]:
    """Bodies by name, the exported ones, and what is not kept."""
    listed = [(found[2], "x" in found[1]) for found in _FUNCTION_NAME.finditer(names)]
    starts = list(_starts(bodies, [name for name, _ in listed]))
    functions: dict[str, str] = {}
    unkept: list[str] = []
    for number, (name, start) in enumerate(starts):
        stop = starts[number + 1][1] if number + 1 < len(starts) else len(bodies)
        body = bodies[start + len(name) : stop].partition(" () \n")[2].rstrip()
        body = _ATTRIBUTES.sub("", body)
        room = min(MAX_VALUE_BYTES, MAX_FUNCTION_CHARS - sum(map(len, functions.values())))
        if name in UNKEPT_FUNCTIONS or len(body) > room or not body.startswith("{"):
            if name != DUMP:
                unkept.append(f"the function {name} cannot be kept")
        else:
            functions[name] = body
    exported = frozenset(name for name, is_exported in listed if is_exported) & functions.keys()
    return functions, exported, unkept


def _starts(bodies: str, names: list[str]) -> Iterator[tuple[str, int]]:
    """Where each function begins; `declare -f` prints them in the order of `declare -F`."""
    at = 0
    for name in names:
        # The line before it closes another function, so a here-document hardly looks like this.
        opening = re.compile(
            r"(?:\A|\n\}[^\n]*\n(?:declare -f[a-z]+ [^\n]*\n)?)"
            rf"({re.escape(name)} \(\) \n\{{)"
        )
        if found := opening.search(bodies, at):
            yield name, found.start(1)
            at = found.end()


def _declaration(name: str, variable: Variable) -> str:
    # A plain value never goes to an array: bash would look for elements in it, and evaluate them.
    kept = "ilrux" if isinstance(variable.value, str) else "aAilrux"
    attributes = "".join(letter for letter in kept if letter in variable.attributes)
    option = f"-{attributes}" if attributes else "--"
    if isinstance(variable.value, str):
        return f"declare {option} {name}={_quote(variable.value)}"
    if "A" in attributes:
        inside = " ".join(f"[{_quote(k)}]={_quote(v)}" for k, v in variable.value)
    else:
        inside = " ".join(
            f"[{k}]={_quote(v)}" for k, v in variable.value if re.fullmatch("[0-9]+", k)
        )
    return f"declare {option} {name}=({inside})"


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
