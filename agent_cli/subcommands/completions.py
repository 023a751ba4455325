"""`agent completions`: what a shell needs to complete our command line."""

import argparse
import sys

from agent_cli.completions import bash, fish, zsh
from agent_cli.completions.tree import tree
from agent_cli.core.errors import ExitCode
from agent_cli.lib.language import tr

_SHELLS = {"bash": bash.script, "zsh": zsh.script, "fish": fish.script}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `agent completions`."""
    parser.epilog = tr(
        'bash: eval "$(agent completions bash)" in ~/.bashrc. zsh: the same with zsh in ~/.zshrc, '
        "after compinit. fish: agent completions fish > ~/.config/fish/completions/agent.fish"
    )
    parser.add_argument("shell", choices=tuple(_SHELLS), help=tr("the shell you use"))


def run(options: argparse.Namespace) -> int:
    """Write the script for a shell."""
    sys.stdout.write(_SHELLS[options.shell](tree(options.whole_parser())))
    return ExitCode.DONE
