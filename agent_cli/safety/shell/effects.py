"""What a command that is not proven would do: files it writes, dangers, network."""

import itertools
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from agent_cli.safety.name_sets import names
from agent_cli.safety.reasons import Reason, because
from agent_cli.safety.shell.found import FoundCommand
from agent_cli.safety.shell.lenient_words import UNKNOWN
from agent_cli.safety.shell.shell_facts import Destruction, absolute, lexical
from agent_cli.safety.shell.wrappers import SHELLS

ALL_OPERANDS = names("rm rmdir unlink shred touch mkdir truncate fallocate mkfifo mknod tee mv")
LAST_OPERAND = names("cp ln install rsync scp")
AFTER_FIRST = names("chmod chown chgrp setfacl chattr")
VALUES: dict[str, frozenset[str]] = {
    "touch": names("-d -t -r --date --reference"),
    "mkdir": frozenset(["-m", "--mode"]),
    "install": names("-m -o -g --mode --owner --group"),
    "fallocate": names("-l -o --length --offset"),
    "truncate": names("-s -r --size --reference"),
    "shred": names("-n -s --iterations --size"),
    "cp": frozenset(["-S", "--suffix"]),
    "xxd": frozenset({"-c", "-g", "-l", "-o", "-s"}),
    "uniq": frozenset({"-f", "-s", "-w"}),
    "rsync": names("-e --rsh --exclude --include --filter"),
}
OUTPUT_OPTIONS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("sort", "base64", "curl"), names("-o --output")),
    **dict.fromkeys(("tree", "gcc", "cc"), names("-o")),
    "wget": names("-O --output-document"),
    "git": names("--output"),
}
GIT_WRITES = frozenset(("git", verb) for verb in ("mv", "rm", "checkout", "restore"))
INTO_DIRECTORY = {"tar": names("-C --directory"), "unzip": names("-d")}
NETWORK = names(
    "curl wget nc ncat netcat socat ssh scp sftp rsync ftp telnet ping ping6 dig host "
    "nslookup getent traceroute gh npm npx pnpm yarn pip pip3 uv uvx pipx brew apt apt-get "
    "dnf yum docker podman kubectl helm aws gcloud az terraform cargo go gem bundle composer "
    "claude codex"
)
# Of the commands that may be proven, those that can also write or run something.
TWO_FACED = names("find sort sed awk gawk mawk git xxd uniq base64 tree tar unzip env bash")
GIT_NETWORK = names("fetch pull push clone ls-remote submodule")
PRIVILEGE = names("sudo su doas pkexec run0 runuser gosu")
GIT_DESTROYS = names("clean checkout reset restore rm stash switch branch")
DESTROYS = names("rm rmdir unlink shred truncate mv cp install ln tee dd chmod chown chgrp")
# What these run happens on another machine, or with other files under the same names.
ELSEWHERE = names("ssh chroot nsenter")
ADDS_WORDS = names("xargs parallel")


def hidden_by(outer: Iterable[tuple[str, ...]]) -> Reason | None:
    """Why what is run by these wrappers cannot be counted from its words; None when it can."""
    around = {argv[0].rpartition("/")[2] for argv in outer}
    if around & ELSEWHERE:
        return because("runs_elsewhere")
    if around & ADDS_WORDS:
        return because("names_from_command")
    return None


def writes_of(argv: tuple[str, ...], cwd: str | None) -> list[str]:
    """The files a command names to be written, made or removed, where they are known."""
    return _known_paths(_named_writes(argv), cwd)


def may_name(argv: tuple[str, ...], cwd: str | None, home: str) -> Iterator[str]:
    """Every path that a word of a command could stand for, in options and lists too."""
    for word in argv[1:]:
        if UNKNOWN in word:
            continue
        pieces = [word, *re.split(r"[=,:;@]", word)]
        if re.match(r"-[A-Za-z]", word):
            pieces.append(word[2:])
        for piece in dict.fromkeys(pieces):
            if piece.startswith("~/"):
                yield f"{home}{piece[1:]}"
            elif piece and cwd is not None:
                yield absolute(piece, cwd)
            elif piece:
                yield absolute(piece, home)


def redirect_targets(found: FoundCommand) -> list[str]:
    """The files that a command's redirections write."""
    return _known_paths(found.writes, found.cwd)


def _known_paths(paths: Iterable[str], cwd: str | None) -> list[str]:
    return [
        lexical(absolute(path, cwd or "/"))
        for path in paths
        if path and UNKNOWN not in path and (path.startswith("/") or cwd is not None)
    ]


_WRITERS = frozenset(
    {*ALL_OPERANDS, *LAST_OPERAND, *AFTER_FIRST, *INTO_DIRECTORY, *OUTPUT_OPTIONS}
    | {"dd", "sed", "find", "xxd", "uniq", "perl"}
)


def _named_writes(argv: tuple[str, ...]) -> Iterator[str]:
    name = argv[0].rpartition("/")[2]
    if name not in _WRITERS and argv[:2] not in GIT_WRITES:
        return
    operands = _operands(argv, VALUES.get(name, frozenset()))
    if name in ALL_OPERANDS:
        yield from operands
    elif name in LAST_OPERAND:
        target = _value(argv, frozenset({"-t", "--target-directory"}))
        yield target or (operands[-1] if len(operands) > 1 else "")
    elif name in AFTER_FIRST:
        yield from operands[1:]
    elif name == "dd":
        yield from (word[3:] for word in argv if word.startswith("of="))
    elif name == "sed":
        yield from _sed(argv)
    elif name == "find":
        yield from _find(argv)
    elif name in {"xxd", "uniq"}:
        yield from operands[1:2]
    elif argv[:2] in GIT_WRITES:
        yield from argv[argv.index("--") + 1 :] if "--" in argv else operands[1:]
    elif name == "perl" and any(re.match(r"-[0-7aflnpsw]*i", word) for word in argv[1:]):
        yield from operands
    elif name in INTO_DIRECTORY:
        yield _value(argv, INTO_DIRECTORY[name]) or ""
    if name in OUTPUT_OPTIONS:
        yield _value(argv, OUTPUT_OPTIONS[name]) or ""


def _find(argv: tuple[str, ...]) -> Iterator[str]:
    for flag, value in pairwise(argv):
        if flag in {"-fprint", "-fprint0", "-fprintf", "-fls"}:
            yield value
    if "-delete" in argv:
        yield from itertools.takewhile(lambda word: word[:1] not in "-(!", argv[1:])


def _operands(argv: tuple[str, ...], values: frozenset[str]) -> list[str]:
    operands: list[str] = []
    rest = iter(argv[1:])
    for word in rest:
        if word == "--":
            operands.extend(rest)
        elif word in values:
            next(rest, None)
        elif not word.startswith("-") or word == "-":
            operands.append(word)
    return operands


def _value(argv: tuple[str, ...], names: frozenset[str]) -> str | None:
    """The value of an option: separate, attached, in a cluster or abbreviated."""
    longs, letters = _spellings(names)
    for index, word in enumerate(argv):
        if word[:1] != "-" or not index:
            continue
        following = argv[index + 1] if index + 1 < len(argv) else None
        option, equals, value = word.partition("=")
        if word.startswith("--"):
            if len(option) > 4 and any(name.startswith(option) for name in longs):
                return value if equals else following
        else:
            for letter in letters:
                before, found, after = word[1:].partition(letter)
                if found and (before == "" or before.isalpha()):
                    return after or following
    return None


@lru_cache(maxsize=64)
def _spellings(names: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    longs = tuple(name for name in names if name.startswith("--"))
    return longs, tuple(name[1] for name in names if not name.startswith("--"))


def _sed(argv: tuple[str, ...]) -> Iterator[str]:
    operands = _operands(argv, frozenset({"-e", "-f", "--expression", "--file"}))
    has_script = any(word.startswith(("-e", "-f", "--expr", "--file")) for word in argv[1:])
    for script in argv[1:]:
        match = re.search(r"(?:^|[;}\d/$ ])[wW] +(\S+)\Z|/[gpI\d]*w +(\S+)\Z", script)
        if match:
            yield match.group(1) or match.group(2)
    if any(re.match(r"-[nErsuz]*i|--in-place", word) for word in argv[1:]):
        yield from operands if has_script else operands[1:]


def dangers_of(argv: tuple[str, ...], found: FoundCommand) -> Iterator[Reason]:
    """Recognised dangerous things."""
    name = argv[0].rpartition("/")[2]
    flags = {letter for word in argv[1:] if re.match(r"-[A-Za-z]", word) for letter in word[1:]}
    if name in PRIVILEGE:
        yield because("other_user", name=name)
    elif name == "rm" and (flags & {"r", "R"} or "--recursive" in argv):
        yield because("removes_directories")
    elif name in {"chmod"} and any(
        re.fullmatch(r"0?777|a\+rwx|o\+w|u\+s|g\+s|[246]\d{3}", w) for w in argv
    ):
        yield because("opens_access")
    elif name in SHELLS and found.piped_from is not None:
        yield because("runs_output")
    elif name in {"eval", "source", "."}:
        yield because("runs_text", name=name)
    elif name == "xargs":
        yield because("xargs_runs")
    elif name == "find" and any(re.match(r"-(exec|ok|delete|f(print|ls))", word) for word in argv):
        yield because("find_acts")
    elif name == "git":
        yield from _git_dangers(argv)
    elif name in {"dd", "shred", "crontab", "at", "launchctl"}:
        yield because("hard_to_undo", name=name)


def _git_dangers(argv: tuple[str, ...]) -> Iterator[Reason]:
    words = set(argv)
    rewrites = re.compile(r"--(force|mirror|delete)|-\w*[fd]|\+|:")
    if "push" in words and any(map(rewrites.match, argv[2:])):
        yield because("rewrites_remote")
    if "reset" in words and "--hard" in words:
        yield because("hard_reset")
    if "clean" in words:
        yield because("git_clean")
    if {"checkout", "restore"} & words:
        yield because("git_discards")
    if "config" in words:
        yield because("git_config")
    if "filter-branch" in words or "-c" in words:
        yield because("git_runs")


def uses_network(argv: tuple[str, ...], found: FoundCommand) -> bool:
    """Is the command known to talk to other machines?"""
    name = argv[0].rpartition("/")[2]
    if any(path.startswith(("/dev/tcp/", "/dev/udp/")) for path in (*found.writes, *found.reads)):
        return True
    if name == "git":
        return bool(
            GIT_NETWORK & set(argv[1:]) or argv[1:3] in (("remote", "update"), ("remote", "show"))
        )
    return name in NETWORK and "--version" not in argv


def destruction_of(
    argv: tuple[str, ...], found: FoundCommand, hidden: Reason | None = None
) -> Destruction | None:
    """What can be counted before it happens: deletions, overwrites, discarded work."""
    name = argv[0].rpartition("/")[2]
    if name == "git":
        verb = next((word for word in argv[1:] if word in GIT_DESTROYS), None)
        if verb is None:
            return None
        return Destruction(f"git {verb}", (), argv, found.cwd, found.globs, hidden)
    if name not in DESTROYS and name not in {"find", "perl", "sed"}:
        return None
    paths = tuple(writes_of(argv, found.cwd))
    if name == "find":
        if not any(re.fullmatch(r"-(delete|exec|execdir|ok|okdir)", word) for word in argv):
            return None
        roots = [word for word in argv[1:] if not word.startswith("-")][:1] or ["."]
        paths = tuple(lexical(absolute(root, found.cwd or "/")) for root in roots)
    elif name == "perl":
        if not any(re.match(r"-[0-7aflnpsw]*i", word) for word in argv[1:]):
            return None
    elif name == "sed" and not paths:
        return None
    return Destruction(name, paths, argv, found.cwd, found.globs, hidden)


def redirections(found: FoundCommand, hidden: Reason | None = None) -> Iterator[Destruction]:
    """The files that a command's redirections empty (`>`) or add to (`>>`)."""
    for target in found.writes:
        verb = ">>" if target in found.appends else ">"
        path = absolute(target, found.cwd) if found.cwd is not None else target
        yield Destruction(verb, (path,), found.argv, found.cwd, found.globs, hidden)
