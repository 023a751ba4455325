"""What `find` with an action would strike: asked from the same find, without the action."""

import re
from collections.abc import Mapping, Sequence

from agent_cli.safety.impact.clock import Clock, NotCounted
from agent_cli.safety.impact.file_commands import plans_of
from agent_cli.safety.impact.impact_steps import ImpactStep, as_partial, entry, exists, plan
from agent_cli.safety.impact.impact_summary import DELETES
from agent_cli.safety.impact.run import run
from agent_cli.safety.name_sets import names
from agent_cli.safety.reasons import because

# Tests and options that only look, by how many words they take.
_ALONE = names(
    "! ( ) , -a -and -o -or -not -true -false -empty -readable -writable -executable -nouser "
    "-nogroup -prune -depth -d -mount -xdev -daystart -noleaf -warn -nowarn "
    "-ignore_readdir_race -noignore_readdir_race"
)
_WITH_VALUE = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype "
    "-size -mtime -mmin -atime -amin -ctime -cmin -used -newer -anewer -cnewer -maxdepth -mindepth "
    "-perm -user -group -uid -gid -links -inum -samefile -fstype -regextype"
)
_PRINTS = {"-print": 0, "-print0": 0, "-ls": 0, "-printf": 1}
_RUNS = names("-exec -execdir -ok -okdir")
_EXPLICIT = names("rm rmdir unlink shred truncate chmod chown chgrp sed perl")


def find_plans(
    argv: Sequence[str], cwd: str, environment: Mapping[str, str], clock: Clock
) -> list[ImpactStep]:
    """What the command would do; raises NotCounted."""
    question, action = _question(list(argv[1:]))
    try:
        output = run(["find", *question], cwd, environment, clock.share(2))
    except (OSError, ValueError) as error:
        raise NotCounted(because("cannot_run", name="find")) from error
    found = list(dict.fromkeys(output.names))
    clock = clock.share(2)  # the other half is for counting
    if action:
        words = [each for word in action for each in (found if word == "{}" else [word])]
        plans = plans_of(words, cwd, clock) if found else []
    else:
        entries = (entry(name, cwd) for name in clock.within(found))
        plans = plan(DELETES, (path for path in entries if exists(path)))
    if output.is_whole and not clock.is_over:
        return plans
    if not plans:
        raise NotCounted(because("no_time"))
    return as_partial(plans)


def _question(words: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """The words that print what the action would get, and the action; none is `-delete`."""
    question = _places(words)
    actions: set[tuple[str, ...]] = set()
    while words:
        word = words.pop(0)
        if word == "-delete":
            actions.add(())
            question.append("-print0")
        elif word in _RUNS:
            actions.add(_run_command(words))
            question.append("-print0")
        elif word in _PRINTS:
            del words[: _PRINTS[word]]
            question.append("-true")
        elif word in _ALONE:
            question.append(word)
        elif (word in _WITH_VALUE or re.fullmatch(r"-newer[aBcm][aBcmt]", word)) and words:
            question += (word, words.pop(0))
        else:
            raise NotCounted(because("unpredictable", name=f"find {word}"))
    if len(actions) != 1:
        raise NotCounted(because("unpredictable", name="find"))
    (action,) = actions
    if not action:
        # Deleting works from the bottom up, and pruning has no effect then.
        question.insert(len(_places(list(question))), "-depth")
    return question, action


def _places(words: list[str]) -> list[str]:
    places = []
    while words and re.fullmatch(r"-[HLP]|-O[0-3]", words[0]):
        places.append(words.pop(0))
    while words and not words[0].startswith("-") and words[0] not in {"!", "(", ")", ","}:
        places.append(words.pop(0))
    return places


def _run_command(words: list[str]) -> tuple[str, ...]:
    command: list[str] = []
    while words:
        word = words.pop(0)
        if word == ";" or (word == "+" and command[-1:] == ["{}"]):
            break
        command.append(word)
    name = command[0].rpartition("/")[2] if command else ""
    if name not in _EXPLICIT:
        raise NotCounted(because("find_runs", name=name or "?"))
    if command.count("{}") != 1 or any("{}" in word for word in command if word != "{}"):
        raise NotCounted(because("unpredictable", name="find"))
    return tuple(command)
