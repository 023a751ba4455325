"""For bash, 3.2 and later; no other package is needed."""

from agent_cli.completions.tree import Node, Value

_FRAME = """\
_agent() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} path= i IFS=$'\\n'
    COMPREPLY=()
    [[ $cur == "=" ]] && cur=
    [[ $prev == "=" ]] && prev=${{COMP_WORDS[COMP_CWORD-2]}}
    for ((i = 1; i < COMP_CWORD; i++)); do
        case $path/${{COMP_WORDS[i]}} in
            {commands}) path=$path/${{COMP_WORDS[i]}} ;;
        esac
    done
    case $path:$prev in
{values}
    esac
    case $path in
{words}
    esac
}}
complete -F _agent agent
"""


def script(root: Node) -> str:
    """The whole completion."""
    nodes = list(root.walk())
    return _FRAME.format(
        commands="|".join(_path(node) for node in nodes if node.path),
        values="\n".join(line for node in nodes for line in _values(node)),
        words="\n".join(_words(node) for node in nodes),
    )


def _path(node: Node) -> str:
    return "".join(f"/{name}" for name in node.path)


def _values(node: Node) -> list[str]:
    """What follows each flag that takes something."""
    lines = []
    for flag in node.flags:
        if flag.value.kind != "nothing" and not (flag.value.optional and flag.value.kind == "text"):
            patterns = "|".join(f"{_path(node)}:{name}" for name in flag.names)
            lines.append(f"        {patterns}) {_reply(flag.value)}; return ;;")
    return lines


def _words(node: Node) -> str:
    """What else may stand here: commands, flags, choices, files."""
    words = [child.name for child in node.children]
    words += [name for flag in node.flags for name in flag.names if name.startswith("--")]
    words += [choice for value in node.values for choice in value.choices]
    reply = f"COMPREPLY=($(compgen -W $'{_lines(words)}' -- \"$cur\"))"
    for value in node.values:
        if value.kind in ("file", "directory"):
            reply = f"[[ $cur == -* ]] || {{ {_reply(value)}; return; }}; {reply}"
    return f"        '{_path(node)}') {reply} ;;"


def _reply(value: Value) -> str:
    match value.kind:
        case "choice":
            return f"COMPREPLY=($(compgen -W $'{_lines(value.choices)}' -- \"$cur\"))"
        case "file":
            return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur"))'
        case "directory":
            return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur"))'
        case _:
            return ":"


def _lines(words: list[str] | tuple[str, ...]) -> str:
    return "\\n".join(words)
