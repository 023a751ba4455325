"""Commands that run another command given as their arguments."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from agent_cli.safety.environment import is_locale, is_plain_locale
from agent_cli.safety.name_sets import names
from agent_cli.safety.reasons import because
from agent_cli.safety.shell.options import Refused
from agent_cli.safety.shell.words import UNKNOWN, Word


@dataclass(frozen=True)
class Wrapper:
    """How to find the inner command."""

    values: str = ""
    """Options that take a value."""
    safe: str = ""
    """Options that change nothing but how long, how fast or how buffered the command runs."""
    operands: int = 0
    """Words of its own before the command."""
    assignments: bool = False
    proven: bool = False
    """The wrapper itself does no harm, so that its command may be proven."""
    external: bool = True
    """It runs a program, not a builtin of the shell."""
    script: str = ""
    """The option whose value is a shell script."""
    joined: bool = False
    """All remaining words together are a shell script."""


WRAPPERS: dict[str, Wrapper] = {
    "command": Wrapper(safe="-p", proven=True, external=False),
    "builtin": Wrapper(proven=True, external=False),
    "nice": Wrapper(values="-n --adjustment", safe="-n --adjustment", proven=True),
    "timeout": Wrapper(
        values="-k -s --kill-after --signal",
        safe="-k -s -v --kill-after --signal --foreground --preserve-status --verbose",
        operands=1,
        proven=True,
    ),
    "stdbuf": Wrapper(
        values="-i -o -e --input --output --error",
        safe="-i -o -e --input --output --error",
        proven=True,
    ),
    "ionice": Wrapper(values="-c -n -p -P -u --class --classdata", safe="-c -n -t", proven=True),
    "env": Wrapper(
        values="-u -C -S --unset --chdir --split-string",
        # Not -i and not -u: the environment also keeps programs from running others.
        assignments=True,
        proven=True,
        script="-S --split-string",
    ),
    "exec": Wrapper(values="-a", external=False),
    "nohup": Wrapper(),
    "setsid": Wrapper(),
    "time": Wrapper(values="-o -f --output --format"),
    "chrt": Wrapper(values="-T -P -D", operands=1),
    "taskset": Wrapper(operands=1),
    "sudo": Wrapper(values="-u -g -h -p -C -r -t -T -U -D -R --user --group", assignments=True),
    "doas": Wrapper(values="-u -C"),
    "pkexec": Wrapper(values="--user"),
    "run0": Wrapper(values="-u --user"),
    "su": Wrapper(values="-c -s -g -G -w --command --shell", script="-c --command", operands=1),
    "runuser": Wrapper(values="-c -u -s -g -G --command", script="-c --command"),
    "gosu": Wrapper(operands=1),
    "xargs": Wrapper(
        values="-I -n -P -d -E -L -s -a -i --arg-file --delimiter --max-args --max-procs "
        "--max-lines --max-chars --replace --process-slot-var"
    ),
    "parallel": Wrapper(values="-j -I -N --jobs --colsep --delay --joblog", joined=True),
    "watch": Wrapper(values="-n --interval", joined=True),
    "ssh": Wrapper(
        values="-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w",
        operands=1,
        joined=True,
    ),
    "busybox": Wrapper(),
    "toybox": Wrapper(),
    "strace": Wrapper(values="-o -e -p -s -u -E -a -b -I -O -P -S -U -X"),
    "ltrace": Wrapper(values="-o -e -p -s -u -n -a -l -x"),
    "chroot": Wrapper(values="--userspec --groups", operands=1),
    "unshare": Wrapper(values="-S -G --setuid --setgid -R -w"),
    "nsenter": Wrapper(values="-t --target -S -G"),
    "flock": Wrapper(values="-w -E -c --command", operands=1, script="-c --command"),
    "script": Wrapper(values="-c --command -I -O -B -T -E", script="-c --command"),
    "systemd-run": Wrapper(values="-p -u -t -E --unit --property --setenv"),
    "coproc": Wrapper(external=False),
    "noglob": Wrapper(external=False),
    "nocorrect": Wrapper(external=False),
    "eval": Wrapper(external=False, joined=True),
    "trap": Wrapper(external=False, joined=True),
}
SHELLS = names("bash sh zsh dash ksh mksh ash fish csh tcsh rbash")
SHELL_VALUES = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})
# Variables that only change how text is shown, with the values they may have.
_HARMLESS_VARIABLES = re.compile(r"TZ=[A-Za-z][A-Za-z0-9_+/-]*|NO_COLOR=[0-9]?")
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(frozen=True)
class Safe:
    """The inner command of a wrapper that keeps a proof possible."""

    argv: list[Word] = field(default_factory=list)
    script: str | None = None
    external: bool = True


def unwrap_safely(name: str, rest: list[Word]) -> Safe | None:
    """The inner command when every option of the wrapper is harmless; None when not a wrapper."""
    if name == "bash":
        return _bash(rest)
    wrapper = WRAPPERS.get(name)
    if wrapper is None or not wrapper.proven:
        return None
    if name == "command" and rest and rest[0].text in {"-v", "-V"}:
        # It only looks names up, like `type` does.
        return Safe([Word("type", "type"), *rest[1:]], external=False) if len(rest) > 1 else None
    if name == "nice" and rest and re.fullmatch(r"-[0-9]+", rest[0].text):
        rest = rest[1:]
    index = _skip_safe_options(wrapper, rest)
    if index is None:
        return None
    for _ in range(wrapper.operands):
        if index >= len(rest) or not re.fullmatch(r"[0-9.]+[smhd]?", rest[index].text):
            return None
        index += 1
    while wrapper.assignments and index < len(rest) and _is_harmless(rest[index]):
        index += 1
    inner = rest[index:]
    if not inner or inner[0].text.startswith("-") or "=" in inner[0].text:
        return None
    return Safe(inner, external=wrapper.external)


def _is_harmless(word: Word) -> bool:
    return word.is_exact and is_harmless_assignment(word.text)


def is_harmless_assignment(text: str) -> bool:
    """Whether a command that runs with this variable does the same, shown otherwise."""
    name, equals, value = text.partition("=")
    if equals and is_locale(name):
        return is_plain_locale(name, value)
    return _HARMLESS_VARIABLES.fullmatch(text) is not None


def _skip_safe_options(wrapper: Wrapper, rest: list[Word]) -> int | None:
    safe, values = wrapper.safe.split(), wrapper.values.split()
    index = 0
    while index < len(rest) and rest[index].text.startswith("-"):
        text = rest[index].text
        if not rest[index].is_exact:
            return None
        index += 1
        if text == "--":
            return index
        name, equals, _ = text.partition("=")
        if not text.startswith("--"):
            name, equals = text[:2], text[2:]
        if name not in safe or (equals and name not in values):
            return None
        if name in values and not equals:
            if index >= len(rest) or not rest[index].is_exact:
                return None
            index += 1
    return index


XARGS_FLAGS = names("-0 -r -t -x --null --no-run-if-empty --verbose --exit")
XARGS_NUMBERS = re.compile(r"(-[nPLs]|--max-(args|procs|lines|chars)=)([0-9]*)")


def fill_xargs(rest: list[Word]) -> list[Word]:
    """The command that xargs runs, with words that are only known when it runs."""
    index, replaced = 0, ""
    while index < len(rest) and rest[index].text.startswith("-"):
        text = rest[index].text if rest[index].is_exact else ""
        number = XARGS_NUMBERS.fullmatch(text)
        following = rest[index + 1].text if index + 1 < len(rest) else ""
        index += 1
        if text in XARGS_FLAGS or (number and number[3]) or re.fullmatch(r"-d.+", text):
            continue
        is_number = number and not text.startswith("--") and following.isdecimal()
        if is_number or (text == "-d" and following):
            index += 1
        elif text.startswith("-I") and (text[2:] or following):
            replaced = text[2:] or following
            index += not text[2:]
        else:
            raise Refused(because("not_known_safe", what=f"xargs {text}"))
    inner = rest[index:] or [Word("echo", "echo")]
    if not replaced:
        return [*inner, Word(UNKNOWN, "", splits=True)]
    if any(word.pattern is not None for word in inner) or UNKNOWN in replaced:
        raise Refused(because("runtime_value"))
    return [Word(word.text.replace(replaced, UNKNOWN), word.raw) for word in inner]


def _bash(rest: list[Word]) -> Safe | None:
    """Only `bash -c 'script'`: other shells read the same text differently."""
    words = [word.text for word in rest]
    while words and words[0] in {"--noprofile", "--norc"}:
        words = words[1:]
    if len(words) == 2 and words[0] == "-c" and all(word.is_exact for word in rest):
        return Safe(script=words[1])
    return None


@dataclass(frozen=True)
class Inner:
    """What a wrapper runs, as far as it can be told."""

    argv: tuple[str, ...] = ()
    script: str | None = None


def unwrap(argv: tuple[str, ...]) -> Inner | None:
    """The inner command of any known wrapper, leniently: for rules that deny."""
    name = argv[0].rpartition("/")[2]
    if name in SHELLS:
        return _any_shell(argv)
    wrapper = WRAPPERS.get(name)
    if wrapper is None:
        return None
    values, scripts = wrapper.values.split(), wrapper.script.split()
    index, own = 1, 0
    while index < len(argv):
        word = argv[index]
        option, equals, value = word.partition("=")
        if word == "--":
            index += 1
            break
        if word.startswith("-") and len(word) > 1:
            if not word.startswith("--") and len(word) > 2:
                option, equals, value = word[:2], "=", word[2:]
            if option in scripts:
                script = value if equals else " ".join(argv[index + 1 : index + 2])
                return Inner(
                    script=" ".join([script, *argv[index + 2 :]]) if name == "env" else script
                )
            index += 2 if option in values and not equals else 1
        elif wrapper.assignments and ASSIGNMENT.match(word):
            index += 1
        elif own < wrapper.operands:
            own += word != "-"
            index += 1
        else:
            break
    rest = argv[index:]
    if name == "trap":
        return Inner(script=rest[0]) if rest else None
    if wrapper.joined:
        return Inner(script=" ".join(rest)) if rest else None
    return Inner(argv=rest) if rest else None


def _any_shell(argv: tuple[str, ...]) -> Inner | None:
    index = 1
    while index < len(argv):
        word = argv[index]
        if word in SHELL_VALUES:
            index += 2
            continue
        if re.fullmatch(r"[-+][A-Za-z]+", word):
            if "c" in word:
                rest = list(argv[index + 1 :])
                while rest and re.fullmatch(r"[-+][A-Za-z-]+", rest[0]):
                    rest = rest[1:]
                return Inner(script=rest[0]) if rest else None
            index += 1
            continue
        if word.startswith("--"):
            index += 1
            continue
        return None
    return None


FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
FD_RUNS = frozenset({"-x", "-X", "--exec", "--exec-batch"})
GIT_SCRIPTS = re.compile(r"--[a-z]+-filter|--exec|-x")


def embedded_commands(argv: tuple[str, ...]) -> Iterator[Inner]:
    """The commands that stand among the other arguments of find, fd, git or alias."""
    name = argv[0].rpartition("/")[2]
    if name == "find":
        for index, word in enumerate(argv):
            if word in FIND_RUNS:
                rest = argv[index + 1 :]
                stop = next((i for i, each in enumerate(rest) if each in {";", "+"}), len(rest))
                yield Inner(argv=rest[:stop])
    elif name in {"fd", "fdfind"}:
        for index, word in enumerate(argv):
            if word in FD_RUNS:
                yield Inner(argv=argv[index + 1 :])
    elif name == "git":
        yield from _in_git(argv)
    elif name == "alias":
        for word in argv[1:]:
            yield Inner(script=word.partition("=")[2])


def _in_git(argv: tuple[str, ...]) -> Iterator[Inner]:
    for index, word in enumerate(argv[1:], 1):
        following = argv[index + 1] if index + 1 < len(argv) else ""
        option, equals, value = word.partition("=")
        if word == "-c" and not following.startswith("user."):
            yield Inner(script=following.partition("=")[2].removeprefix("!"))
        elif (word, following) == ("submodule", "foreach"):
            yield Inner(script=" ".join(argv[index + 2 :]))
        elif (word, following) == ("bisect", "run"):
            yield Inner(argv=argv[index + 2 :])
        elif {"rebase", "filter-branch"} & set(argv[:index]) and GIT_SCRIPTS.fullmatch(option):
            yield Inner(script=value if equals else following)
