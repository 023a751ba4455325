"""What the commands that delete, overwrite and change files would do."""

# Paths are handled as the kernel sees them: pathlib would drop or merge parts.
# ruff: noqa: PTH112, PTH118, PTH119, PTH208

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence

from agent_cli.safety.impact.clock import Clock, NotCounted
from agent_cli.safety.impact.command_arguments import Arguments, read
from agent_cli.safety.impact.impact_steps import (
    ImpactStep,
    as_partial,
    behind,
    entry,
    exists,
    is_directory,
    is_other,
    mode_of,
    opened_files,
    plan,
)
from agent_cli.safety.impact.impact_summary import (
    CHANGES,
    DELETES,
    MODES,
    MOVES,
    OVERWRITES,
    OWNERS,
)
from agent_cli.safety.reasons import because


def plans_of(argv: Sequence[str], cwd: str, clock: Clock) -> list[ImpactStep]:
    """What a command with these exact words would do; raises NotCounted."""
    name = argv[0].rpartition("/")[2]
    command = _COMMANDS.get(name)
    if command is None:
        raise NotCounted(because("unpredictable", name=name))
    plans = command(argv, cwd, clock)
    return as_partial(plans) if clock.is_over else plans


def _rm(argv: Sequence[str], cwd: str, clock: Clock) -> list[ImpactStep]:
    found = read(argv)
    is_recursive = found.has("rR", "recursive")
    takes_empty = found.has("d", "dir")
    struck = []
    for word in clock.within(found.operands):
        if word.rstrip("/").rpartition("/")[2] in {".", ".."}:
            continue  # rm refuses these
        path = entry(word, cwd)
        mode = mode_of(path)
        if mode is None:
            continue
        if is_recursive or not stat.S_ISDIR(mode) or (takes_empty and _is_empty(path)):
            struck.append(path)
    return plan(DELETES, struck, is_deep=True)


def _rmdir(argv: Sequence[str], cwd: str, clock: Clock) -> list[ImpactStep]:
    paths = (entry(word.rstrip("/") or "/", cwd) for word in clock.within(read(argv).operands))
    return plan(DELETES, (path for path in paths if is_directory(path) and _is_empty(path)))


def _unlink(argv: Sequence[str], cwd: str, clock: Clock) -> list[ImpactStep]:
    paths = [entry(word, cwd) for word in read(argv).operands[:1]]
    return plan(DELETES, filter(is_other, paths))


def _shred(argv: Sequence[str], cwd: str, clock: Clock) -> list[ImpactStep]:
    found = read(argv, valued="ns", longs=("iterations", "size", "random-source"))
    verb = DELETES if found.has("u", "remove") else OVERWRITES
    return plan(verb, opened_files(found.operands, cwd, clock))


def _truncate(argv: Sequence[str], cwd: str, clock: Clock) -> list[ImpactStep]:
    found = read(argv, valued="sr", longs=("size", "reference"))
    amount = found.value("s", "size") or ""
    verb = CHANGES if re.match(r"[+<>/%]", amount) else OVERWRITES
    return plan(verb, opened_files(found.operands, cwd, clock))


def _tee(argv: Sequence[str], cwd: str, clock: Clock) -> list[ImpactStep]:
    found = read(argv)
    verb = CHANGES if found.has("a", "append") else OVERWRITES
    return plan(verb, opened_files(found.operands, cwd, clock))


def _dd(argv: Sequence[str], cwd: str, clock: Clock) -> list[ImpactStep]:
    targets = [word[3:] for word in argv if word.startswith("of=")]
    for word in targets:
        mode = mode_of(behind(word, cwd))
        if mode is not None and stat.S_ISBLK(mode):
            raise NotCounted(because("writes_device"))
    keeps = any(word.startswith("conv=") and "notrunc" in word for word in argv)
    return plan(CHANGES if keeps else OVERWRITES, opened_files(targets, cwd, clock))


def _mv(argv: Sequence[str], cwd: str, clock: Clock) -> list[ImpactStep]:
    found = _read_copy(argv)
    pairs = [
        (entry(old.rstrip("/") or "/", cwd), new)
        for old, new in clock.within(_landings(found, cwd))
    ]
    moved = [(old, entry(new, cwd)) for old, new in pairs if exists(old)]
    lost = [new for old, new in moved if old != new and is_other(new)]
    keeps = found.has("nb", "no-clobber", "backup")
    return plan(MOVES, (old for old, _ in moved), is_deep=True) + plan(
        OVERWRITES, () if keeps else lost
    )


def _cp(argv: Sequence[str], cwd: str, clock: Clock) -> list[ImpactStep]:
    found = _read_copy(argv)
    if found.has("", "parents"):
        raise NotCounted(because("unpredictable", name="cp --parents"))
    if found.has("nb", "no-clobber", "backup"):
        return []
    is_recursive = found.has("rRa", "recursive", "archive")
    lost: list[str] = []
    for old, new in clock.within(_landings(found, cwd)):
        source = behind(old, cwd)
        if not is_directory(source):
            opened = opened_files([new], cwd, clock) if exists(source) else []
            lost += (path for path in opened if path != source)
        elif is_recursive:
            lost += _replaced_files(source, os.path.join(cwd, new), clock)
    return plan(OVERWRITES, lost)


def _install(argv: Sequence[str], cwd: str, clock: Clock) -> list[ImpactStep]:
    found = _read_copy(argv, "mog", ("mode", "owner", "group"))
    if found.has("db", "directory", "backup"):
        return []
    return _replaced_entries(found, cwd, clock)


def _ln(argv: Sequence[str], cwd: str, clock: Clock) -> list[ImpactStep]:
    found = _read_copy(argv)
    if not found.has("f", "force") or found.has("b", "backup"):
        return []
    if len(found.operands) == 1 and found.value("t", "target-directory") is None:
        found.operands.append(".")
    last = os.path.join(cwd, found.operands[-1]) if found.operands else cwd
    if found.has("n", "no-dereference") and os.path.islink(last):  # noqa: PTH114
        found.letters["T"] = ""
    return _replaced_entries(found, cwd, clock)


def _replaced_entries(found: Arguments, cwd: str, clock: Clock) -> list[ImpactStep]:
    targets = [entry(new, cwd) for _, new in clock.within(_landings(found, cwd))]
    return plan(OVERWRITES, filter(is_other, targets))


def _read_copy(argv: Sequence[str], valued: str = "", longs: tuple[str, ...] = ()) -> Arguments:
    return read(argv, valued=f"tS{valued}", longs=("target-directory", "suffix", *longs))


def _landings(found: Arguments, cwd: str) -> Iterator[tuple[str, str]]:
    """Each source with the path where it would come to lie."""
    words = list(found.operands)
    into = found.value("t", "target-directory")
    if into is None:
        if len(words) < 2:
            return
        into = words.pop()
        as_file = found.has("T", "no-target-directory")
        if as_file or not os.path.isdir(os.path.join(cwd, into)):
            yield words[0], into
            return
    for word in words:
        yield word, os.path.join(into, os.path.basename(word.rstrip("/")))


def _replaced_files(source: str, target: str, clock: Clock) -> Iterator[str]:
    """The files in a directory that those of another would replace."""
    pending = [""]
    while pending and not clock.is_over:
        below = pending.pop()
        try:
            names = os.listdir(os.path.join(source, below))
        except OSError:
            continue
        for name in names:
            inner = os.path.join(below, name)
            if is_directory(os.path.join(source, inner)):
                if os.path.isdir(os.path.join(target, inner)):
                    pending.append(inner)
            else:
                yield from opened_files([inner], target, clock)


def _sed(argv: Sequence[str], cwd: str, clock: Clock) -> list[ImpactStep]:
    found = read(argv, valued="efl", optional="i", longs=("expression", "file", "line-length"))
    if not found.has("i", "in-place"):
        raise NotCounted(because("program_unclear"))
    files = found.operands if found.has("ef", "expression", "file") else found.operands[1:]
    return plan(CHANGES, opened_files(files, cwd, clock))


def _perl(argv: Sequence[str], cwd: str, clock: Clock) -> list[ImpactStep]:
    words = list(argv[1:])
    has_script = False
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        cluster = re.match(r"-[acflnpstuwWX0-7]*([eEIimMFCdDxV]?)(.*)\Z", word, re.DOTALL)
        letter, rest = cluster.groups() if cluster else ("", "")
        has_script = has_script or letter in {"e", "E"}
        if letter in {"e", "E", "I"} and not rest:
            words = words[1:]
    return plan(CHANGES, opened_files(words if has_script else words[1:], cwd, clock))


_MODE = re.compile(r"-[rwxXstugo,=+-]+")


def _chmod(argv: Sequence[str], cwd: str, clock: Clock) -> list[ImpactStep]:
    words = [word for word in argv if not _MODE.fullmatch(word) or word == "--"]
    skip = 0 if len(words) < len(argv) else 1
    return _attributes(MODES, read(words, longs=("reference",)), skip, cwd, clock)


def _chown(argv: Sequence[str], cwd: str, clock: Clock) -> list[ImpactStep]:
    return _attributes(OWNERS, read(argv, longs=("reference", "from")), 1, cwd, clock)


def _attributes(verb: str, found: Arguments, skip: int, cwd: str, clock: Clock) -> list[ImpactStep]:
    skip = 0 if found.has("", "reference") else skip
    paths = (behind(word, cwd) for word in clock.within(found.operands[skip:]))
    return plan(verb, filter(exists, paths), is_deep=found.has("R", "recursive"))


def _is_empty(path: str) -> bool:
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is None
    except OSError:
        return False


Command = Callable[[Sequence[str], str, Clock], list[ImpactStep]]
_COMMANDS: dict[str, Command] = {
    "rm": _rm,
    "rmdir": _rmdir,
    "unlink": _unlink,
    "shred": _shred,
    "truncate": _truncate,
    "tee": _tee,
    "dd": _dd,
    "mv": _mv,
    "cp": _cp,
    "install": _install,
    "ln": _ln,
    "sed": _sed,
    "perl": _perl,
    "chmod": _chmod,
    "chown": _chown,
    "chgrp": _chown,
}
# Of these, a word that is not known hides only itself.
EACH_WORD_ALONE = frozenset({"rm", "rmdir", "shred", "tee"})
