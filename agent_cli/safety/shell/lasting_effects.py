"""What a command leaves behind in a shell that lives on, and how to see that a shell is plain."""

import re

from agent_cli.safety.shell.shell_facts import ShellFacts, SimpleCommand

# Builtins that change what later names mean or how later text is read.
CHANGES: dict[str, str] = {
    "alias": "it defines aliases",
    "unalias": "it changes aliases",
    "export": "it exports variables",
    "declare": "it sets variables or functions",
    "typeset": "it sets variables or functions",
    "local": "it sets variables",
    "readonly": "it sets variables",
    "unset": "it removes variables or functions",
    "set": "it changes shell options",
    "shopt": "it changes shell options",
    "enable": "it replaces builtins",
    "hash": "it changes where programs are found",
    "exec": "it replaces the shell or its descriptors",
    "source": "it runs a script in this shell",
    ".": "it runs a script in this shell",
    "eval": "it runs text in this shell",
    "trap": "it runs text later",
    "bind": "it changes key bindings",
    "complete": "it changes completion",
    "builtin": "it may run any builtin",
    "read": "it sets variables",
    "mapfile": "it sets variables",
    "readarray": "it sets variables",
    "getopts": "it sets variables",
    "let": "it sets variables",
    "printf": "it may set variables",
    "umask": "it changes the rights of new files",
    "ulimit": "it changes limits",
    "cd": "it leaves the workspace",
    "pushd": "it changes the directory",
    "popd": "it changes the directory",
    "coproc": "it starts a process in the background",
    "function": "it defines a function",
    "history": "it may change the history",
    "fc": "it runs commands again",
    "exit": "it ends the shell",
    "logout": "it ends the shell",
}
HARMLESS_SETTING = re.compile(r"[-+][eux]*o?|pipefail")

PROBE = r"""
POSIXLY_CORRECT=1
\trap - DEBUG RETURN ERR
\unset -f builtin
\builtin printf '%s\0' "$-" "$BASHOPTS" "$(\builtin declare -F)" "$(\builtin alias -p)" \
    "$(\builtin trap -p)" "$(\builtin enable -n)" "$(\builtin enable -p)" "$(\builtin hash -l)" \
    "PATH=$PATH" "IFS=$IFS" "PS4=$PS4" "CDPATH=$CDPATH" "PROMPT_COMMAND=$PROMPT_COMMAND" \
    "GLOBIGNORE=$GLOBIGNORE" "EXECIGNORE=$EXECIGNORE" "BASH_ENV=$BASH_ENV" "HOME=$HOME" \
    "$(\builtin export -p)"
\unset POSIXLY_CORRECT
\set +o posix
"""
"""Text for a living shell: equal output at the start and now means that no function, alias, trap,
option, remembered path, look-up variable or exported variable has changed. It begins with an
assignment because nothing can redefine that: it makes bash prefer its special builtins to functions
of the same name. Debug traps and a function called `builtin` are removed on the way. Any
difference, missing output or error means that the shell is not plain."""


def taints_shell(facts: ShellFacts) -> tuple[str, ...]:
    """Why later commands in the same shell may come to mean something else; empty if not."""
    if not facts.unproven:
        return ()
    reasons: dict[str, None] = {}
    if not facts.parsed:
        reasons["what it does to the shell could not be read completely"] = None
    for name in facts.sets:
        reasons[f"it sets the variable {name}"] = None
    for command in facts.commands:
        if command.unproven:
            reasons.update(dict.fromkeys(_by(command)))
    return tuple(reasons)


def _by(command: SimpleCommand) -> list[str]:
    name = command.argv[0] if command.argv else ""
    if name == "set" and all(HARMLESS_SETTING.fullmatch(word) for word in command.argv[1:]):
        return []
    if name == "printf" and "-v" not in command.argv and "%n" not in "".join(command.argv):
        return []
    return [CHANGES[name]] if name in CHANGES else []
