"""For zsh: put it into a file `_agent` on the fpath, or source it."""

import re

from agent_cli.completions.tree import Flag, Node, Value


def script(root: Node) -> str:
    """The whole completion."""
    functions = [_function(node) for node in root.walk()]
    start = 'if [ "$funcstack[1]" = "_agent" ]; then _agent "$@"; else compdef _agent agent; fi'
    return "\n".join(["#compdef agent", "", *functions, start, ""])


def _function(node: Node) -> str:
    specs = [_flag(flag) for flag in node.flags]
    if not node.children:
        specs += [f"'*:{_plain(value.name)}:{_action(value)}'" for value in node.values]
        return f"{_name(node)}() {{\n    _arguments \\\n{_listed(specs)}\n}}\n"
    specs += ["'1: :->command'", "'*:: :->rest'"]
    commands = "\n".join(f"        '{c.name}:{_plain(c.help)}'" for c in node.children)
    cases = "\n".join(f"            {c.name}) {_name(c)} ;;" for c in node.children)
    return (
        f"{_name(node)}() {{\n"
        "    local context state line\n"
        "    typeset -A opt_args\n"
        f"    local -a commands=(\n{commands}\n    )\n"
        f"    _arguments -C \\\n{_listed(specs)}\n"
        "    case $state in\n"
        "        command) _describe command commands ;;\n"
        f"        rest) case $words[1] in\n{cases}\n        esac ;;\n"
        "    esac\n}\n"
    )


def _name(node: Node) -> str:
    return "_".join(("_agent", *node.path))


def _flag(flag: Flag) -> str:
    value = ""
    if flag.value.kind != "nothing":
        marks = "::" if flag.value.optional else ":"
        value = f"{marks}{_plain(flag.value.name)}:{_action(flag.value)}"
    told = f"[{_plain(flag.help)}]{value}"
    if flag.repeats:
        return f"'*{flag.names[0]}{told}'"
    if len(flag.names) == 1:
        return f"'{flag.names[0]}{told}'"
    return f"'({' '.join(flag.names)})'{{{','.join(flag.names)}}}'{told}'"


def _action(value: Value) -> str:
    match value.kind:
        case "choice":
            return f"({' '.join(value.choices)})"
        case "file":
            return "_files"
        case "directory":
            return "_files -/"
        case _:
            return " "


def _listed(specs: list[str]) -> str:
    return " \\\n".join(f"        {spec}" for spec in specs)


def _plain(text: str) -> str:
    """Text without what zsh would read as its own."""
    return re.sub(r"[\[\]:'\\]", " ", text).strip()
