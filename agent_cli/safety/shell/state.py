"""What a command leaves behind in a shell that lives on, and how to see that a shell is plain."""

import re

from agent_cli.safety.shell.facts import ShellFacts, SimpleCommand

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
{ builtin printf '%s\0' "$-" "$BASHOPTS" "$SHELLOPTS" "$(builtin declare -F)" \
    "$(builtin alias -p)" "$(builtin trap -p)" "$(builtin enable -n)" "$(builtin hash -l)"
  builtin compgen -e
  for name in PATH IFS PS4 CDPATH BASH_ENV ENV PROMPT_COMMAND GLOBIGNORE EXECIGNORE POSIXLY_CORRECT
  do builtin printf '%s\0' "$name=${!name-}"; done
} 2>/dev/null
"""
"""Run right after the shell starts and again before a proof is used; equal output means that no
function, alias, trap, option, hashed path or look-up variable has changed since the start. Whoever
runs it must compare the environment (names and values) as well, and take any difference, missing
output or odd exit for "not plain". A function called `builtin` can lie, so a command that
`taints_shell` names must mark the shell as not plain before the probe is asked."""


def taints_shell(facts: ShellFacts) -> tuple[str, ...]:
    """Why this command may change the meaning of later ones in the same shell; empty if it cannot."""
    reasons: dict[str, None] = {}
    if facts.unresolved and facts.unproven and not facts.commands:
        reasons["what it does to the shell is not known"] = None
    for command in facts.commands:
        if not command.unproven:
            continue
        reasons.update(dict.fromkeys(_by(command)))
    for why in facts.unproven:
        if why.startswith(("it sets the variable", "a function", "the shell keyword 'function'")):
            reasons[why] = None
    if facts.unresolved and not reasons and not _only_known(facts):
        reasons["what it does to the shell is not known"] = None
    return tuple(reasons)


def _by(command: SimpleCommand) -> list[str]:
    if not command.known:
        return ["what it runs is only known when it runs"]
    name = command.argv[0]
    if name == "set" and all(HARMLESS_SETTING.fullmatch(word) for word in command.argv[1:]):
        return []
    if name == "printf" and "-v" not in command.argv and "%n" not in "".join(command.argv):
        return []
    return [CHANGES[name]] if name in CHANGES else []


def _only_known(facts: ShellFacts) -> bool:
    """Nothing but redirections, pipes and known external commands is left open."""
    harmless = ("it writes to ", "it runs with the variable ", "a command in the background")
    return all(
        why.startswith(harmless) or any(why in command.unproven for command in facts.commands)
        for why in facts.unproven
        if why not in facts.sensitive and "not in the table" not in why
    )
