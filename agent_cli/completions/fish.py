"""For fish: put it into ~/.config/fish/completions/agent.fish, or source it."""

from collections.abc import Iterator

from agent_cli.completions.tree import Flag, Node


def script(root: Node) -> str:
    """The whole completion."""
    lines = ["complete -c agent -f"]
    for node in root.walk():
        lines += _lines(node)
    return "\n".join(lines) + "\n"


def _lines(node: Node) -> Iterator[str]:
    here = _here(node)
    for child in node.children:
        yield f"complete -c agent {here} -a {child.name} -d {_quoted(child.help)}"
    for flag in node.flags:
        yield f"complete -c agent {here} {_flag(flag)} -d {_quoted(flag.help)}"
    for value in node.values:
        if value.choices:
            yield f"complete -c agent {here} -a {_quoted(' '.join(value.choices))}"
        elif value.kind in ("file", "directory"):
            yield f"complete -c agent {here} -F"


def _here(node: Node) -> str:
    """Where it applies: after its own name and before any below it."""
    tests = [f"__fish_seen_subcommand_from {name}" for name in node.path]
    below = " ".join(child.name for child in node.children)
    if below:
        tests.append(f"not __fish_seen_subcommand_from {below}")
    return f"-n {_quoted('; and '.join(tests))}" if tests else ""


def _flag(flag: Flag) -> str:
    parts = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names]
    match flag.value.kind:
        case "choice":
            parts += ["-x", f"-a {_quoted(' '.join(flag.value.choices))}"]
        case "file" | "directory":
            parts += ["-r", "-F"]
        case "text" if not flag.value.optional:
            parts.append("-x")
        case _:
            pass
    return " ".join(parts)


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
