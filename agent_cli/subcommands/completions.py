"""`agent completions`: what a shell needs to complete our command line."""

import argparse

import shtab

from agent_cli.core.errors import ExitCode
from agent_cli.lib.language import tr
from agent_cli.safety.terminal import write_data

SHELLS = ("bash", "zsh", "fish")
# Bash splits words at "=", of which shtab knows nothing.
_SPLIT_AT_EQUALS = """
_agent() {
    local -a words=()
    local i
    for ((i = 0; i <= COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} != "=" ]]; then words+=("${COMP_WORDS[i]}")
        elif ((i == COMP_CWORD)); then words+=(""); fi
    done
    local -a COMP_WORDS=("${words[@]}")
    local COMP_CWORD=$((${#words[@]} - 1))
    _shtab_agent
}
complete -o bashdefault -F _agent agent
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `agent completions`."""
    parser.epilog = tr(
        'bash: eval "$(agent completions bash)" in ~/.bashrc. zsh: eval "$(agent completions zsh)" '
        "in ~/.zshrc, after compinit. fish: agent completions fish > "
        "~/.config/fish/completions/agent.fish"
    )
    parser.add_argument("shell", choices=SHELLS, help=tr("your shell"))


def run(options: argparse.Namespace) -> int:
    """Write the script for a shell."""
    write_data(script(options.whole_parser(), options.shell))
    return ExitCode.DONE


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """What the shell has to read."""
    _complete_paths(parser)
    written: str = shtab.complete(parser, shell)
    return f"{written}\n{_SPLIT_AT_EQUALS}" if shell == "bash" else f"{written}\n"


def _complete_paths(parser: argparse.ArgumentParser) -> None:
    """Let shells offer files and directories where the command line takes them."""
    for action in parser._actions:  # argparse has no other way to ask
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                _complete_paths(child)
        elif action.metavar in ("FILE", "DIR"):
            kind = shtab.FILE if action.metavar == "FILE" else shtab.DIRECTORY
            action.complete = kind  # type: ignore[attr-defined]
