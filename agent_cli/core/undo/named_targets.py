"""What a simple command line can change, where its words tell all of it."""

# ruff: noqa: PTH119, PTH120

import os
import re
from collections.abc import Sequence

from agent_cli.core.deciding.rules import CommandFact, Facts
from agent_cli.core.tool_context import ShellInfo
from agent_cli.safety.name_sets import names

PLAIN = names(
    "rm rmdir unlink touch mkdir truncate mkfifo tee mv cp ln chmod chown chgrp "
    "echo printf cat head tail seq date sleep true false test [ : pwd ls wc sort cut tr grep"
)
"""Commands that change what they name and nothing else."""
_NEED_TWO = names("cp mv ln")
"""With one word they make something whose name they do not say."""
_MOVE_AWAY = names("cd pushd popd")
"""If they fail, what comes after them happens elsewhere."""
_PRUNING = names("gc prune repack filter-branch filter-repo maintenance")
_KEEP_INDEX = names("git gc prune repack maintenance reflog status log diff fetch push stash")
_NOT_PLAIN = re.compile(r"[$`*?{}~<\\]|\[[^ ]|\beval\b|\bsource\b")
"""What makes a word mean something else than it says."""


def named_targets(
    facts: Facts, commands: Sequence[str], shell: ShellInfo, struck: Sequence[str]
) -> tuple[str, ...] | None:
    """All that the commands can change, with all that is below; None: their words do not tell."""
    if not commands or shell.altered_by or any(map(_NOT_PLAIN.search, commands)):
        return None
    if not all(_is_plain(each) for each in facts.commands):
        return None
    if len(facts.commands) > 1 and any(_name(each) in _NEED_TWO for each in facts.commands):
        return None  # they may put a link where the next one writes
    written = [path for path in facts.paths if path.access == "write"]
    paths = [*struck, *(path.real for path in written), *(path.lexical for path in written)]
    paths += [path.typed for path in written if path.typed.startswith("/")]
    paths = [path for path in paths if path]  # of nothing the real path is where we are
    through = [
        f"{os.path.realpath(os.path.dirname(each))}/{os.path.basename(each)}" for each in paths
    ]
    real = [os.path.realpath(each) for each in paths]
    return tuple(dict.fromkeys((*paths, *through, *real)))


def prunes_git(commands: Sequence[CommandFact]) -> bool:
    """Whether commands may make git let go of bytes of files that are still there.

    What is in its index git keeps; so something must change that besides.
    """
    verbs = {_git_verb(each.argv) for each in commands}
    return bool(verbs & _PRUNING) and bool(verbs - _KEEP_INDEX)


def _git_verb(argv: Sequence[str]) -> str:
    """The command of git among the words of a command; empty: it is another program's."""
    if not argv or argv[0].rpartition("/")[2] != "git":
        return ""
    words = iter(argv[1:])
    for word in words:
        if word in ("-C", "-c"):
            next(words, None)
        elif not word.startswith("-"):
            return word
    return "git"


def _is_plain(command: CommandFact) -> bool:
    if not command.is_known or not command.argv:
        return False
    name = _name(command)
    if name in _NEED_TWO:
        return sum(not word.startswith("-") for word in command.argv[1:]) > 1
    if name in _MOVE_AWAY:
        return False
    return command.is_proven or name in PLAIN or command.argv[:2] == ("sed", "-i")


def _name(command: CommandFact) -> str:
    return command.argv[0].rpartition("/")[2]
