"""What git commands that throw work away would touch."""

# ruff: noqa: PTH118

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_cli.safety.impact.clock import NotCounted
from agent_cli.safety.impact.command_arguments import Arguments, read
from agent_cli.safety.impact.impact_steps import ImpactStep, entry, exists
from agent_cli.safety.impact.impact_summary import DELETES, DISCARDS
from agent_cli.safety.impact.repository import ReadOnlyGit
from agent_cli.safety.reasons import Reason, because

_DIFFERENCES = (
    "diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--no-renames",
    "--no-relative", "--name-only", "-z",
)  # fmt: skip


@dataclass
class GitOutcome:
    """Files, and what else would be lost."""

    plans: list[ImpactStep] = field(default_factory=list)
    notes: list[Reason] = field(default_factory=list)


def git_outcome(argv: Sequence[str], cwd: str, git: ReadOnlyGit) -> GitOutcome:
    """What the command would do; raises NotCounted."""
    words = list(argv[1:])
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option == "-C" and words:
            cwd = os.path.realpath(os.path.join(cwd, words.pop(0)))
        elif option != "--no-pager":
            raise NotCounted(because("unpredictable", name=f"git {option}"))
    if not words:
        return GitOutcome()
    command = _COMMANDS.get(words[0])
    return command(words, cwd, git) if command else GitOutcome()


def _clean(words: Sequence[str], cwd: str, git: ReadOnlyGit) -> GitOutcome:
    found = read(words, valued="e", longs=("exclude",))
    if found.has("n", "dry-run"):
        return GitOutcome()
    if set(found.letters) - set("fdxXqei") or set(found.longs) - {"force", "quiet", "exclude"}:
        raise NotCounted(because("unpredictable", name="git clean"))
    ignored = git.personal_excludes(cwd)
    same = (_audible(word) for word in words[1:])
    output = git.run(cwd, *ignored, "-c", "core.quotePath=false", "clean", "-n", *same)
    lines = os.fsdecode(output.data).split("\n")
    removed = [line.removeprefix("Would remove ") for line in lines if "Would remove " in line[:13]]
    paths = [entry(_unquote(name).rstrip("/"), cwd) for name in removed]
    plans = [ImpactStep(DELETES, tuple(paths), is_deep=True, in_git=False)] if paths else []
    return GitOutcome(plans)


def _audible(word: str) -> str:
    """An option of clean without the letters that would keep a dry run from answering."""
    if word == "--quiet":
        return "-n"
    if not re.match(r"-[a-zA-Z]+", word):
        return word
    flags, takes, value = word.partition("e")
    return re.sub("[iq]", "", flags).replace("-", "-n", 1) + takes + value


def _checkout(words: Sequence[str], cwd: str, git: ReadOnlyGit) -> GitOutcome:
    options, paths = _paths_after_dashes(words)
    found = read(options, valued="bB", longs=("orphan", "conflict", "pathspec-from-file"))
    if found.has("p", "patch", "pathspec-from-file"):
        raise NotCounted(because("interactive"))
    source = None
    operands = found.operands
    if operands and git.is_true(cwd, "rev-parse", "-q", "--verify", f"{operands[0]}^{{commit}}"):
        source = operands[0]
        operands = operands[1:]
    paths = [*operands, *paths]
    if paths:
        return _find_discarded(cwd, git, paths, "HEAD" if source else None)
    if found.has("f", "force"):
        return _find_discarded(cwd, git, [], "HEAD")
    return GitOutcome()  # git refuses to switch where that would lose changes


def _switch(words: Sequence[str], cwd: str, git: ReadOnlyGit) -> GitOutcome:
    found = read(words, valued="cC")
    is_forced = found.has("f", "force", "discard-changes")
    return _find_discarded(cwd, git, [], "HEAD") if is_forced else GitOutcome()


def _restore(words: Sequence[str], cwd: str, git: ReadOnlyGit) -> GitOutcome:
    options, paths = _paths_after_dashes(words)
    found = read(options, valued="s", longs=("source", "conflict", "pathspec-from-file"))
    if found.has("p", "patch", "pathspec-from-file"):
        raise NotCounted(because("interactive"))
    if found.has("S", "staged") and not found.has("W", "worktree"):
        return GitOutcome()
    against_head = found.has("S", "staged") or found.value("s", "source") is not None
    return _find_discarded(cwd, git, [*found.operands, *paths], "HEAD" if against_head else None)


def _reset(words: Sequence[str], cwd: str, git: ReadOnlyGit) -> GitOutcome:
    found = read(words)
    if not found.has("", "hard"):
        return GitOutcome()
    outcome = _find_discarded(cwd, git, [], "HEAD")
    if found.operands:
        left = _count(git, cwd, f"{found.operands[0]}..HEAD")
        if left:
            outcome.notes.append(because("loses_commits", n=left))
    return outcome


def _rm(words: Sequence[str], cwd: str, git: ReadOnlyGit) -> GitOutcome:
    found = read(words)
    if found.has("n", "dry-run", "cached"):
        return GitOutcome()
    names = git.run(cwd, "ls-files", "-z", "--", *found.operands).names
    paths = tuple(path for path in (entry(name, cwd) for name in names) if exists(path))
    return GitOutcome([ImpactStep(DELETES, paths)] if paths else [])


def _stash(words: Sequence[str], cwd: str, git: ReadOnlyGit) -> GitOutcome:
    action = words[1] if len(words) > 1 else ""
    if action == "drop":
        return GitOutcome(notes=[because("drops_stashes", n=1)])
    if action != "clear" or not git.is_true(cwd, "rev-parse", "-q", "--verify", "refs/stash"):
        return GitOutcome()
    count = _count(git, cwd, "--walk-reflogs", "refs/stash")
    return GitOutcome(notes=[because("drops_stashes", n=count)])


def _branch(words: Sequence[str], cwd: str, git: ReadOnlyGit) -> GitOutcome:
    found = read(words, valued="u")
    if not (found.has("D") or (found.has("d", "delete") and found.has("f", "force"))):
        return GitOutcome()
    return GitOutcome(notes=[_lost_branch(name, found, cwd, git) for name in found.operands])


def _lost_branch(name: str, found: Arguments, cwd: str, git: ReadOnlyGit) -> Reason:
    ref = f"refs/{'remotes' if found.has('r', 'remotes') else 'heads'}/{name}"
    if not git.is_true(cwd, "rev-parse", "-q", "--verify", ref):
        return because("no_branch", name=name)
    only = _count(git, cwd, ref, "--not", f"--exclude={ref}", "--all")
    if not only:
        return because("deletes_merged_branch", name=name)
    return because("deletes_branch", n=only, name=name)


def _count(git: ReadOnlyGit, cwd: str, *revisions: str) -> int:
    return int(git.run(cwd, "rev-list", "--count", *revisions).data or b"0")


def _find_discarded(
    cwd: str, git: ReadOnlyGit, pathspecs: Sequence[str], against: str | None
) -> GitOutcome:
    """The files with changes that the index, or the last commit, does not have."""
    git.require_plain(cwd)
    top = os.fsdecode(git.run(cwd, "rev-parse", "--show-toplevel").data).rstrip("\n")
    revision = [against] if against else []
    changed = git.run(cwd, *_DIFFERENCES, *revision, "--", *pathspecs).names
    paths = tuple(path for path in (entry(name, top) for name in changed) if exists(path))
    return GitOutcome([ImpactStep(DISCARDS, paths, in_git=True)] if paths else [])


def _paths_after_dashes(words: Sequence[str]) -> tuple[list[str], list[str]]:
    at = words.index("--") if "--" in words else len(words)
    return list(words[:at]), list(words[at + 1 :])


_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_LETTERS = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}


def _unquote(name: str) -> str:
    """A name as git prints it, without the quotes it puts around odd ones."""
    if not name.startswith('"'):
        return name

    def plain(found: re.Match[str]) -> str:
        code = found.group(1)
        value = int(code, 8) if len(code) == 3 else _LETTERS.get(code, ord(code))
        return chr(value) if value < 128 else os.fsdecode(bytes([value]))

    return os.fsdecode(os.fsencode(_ESCAPE.sub(plain, name[1:-1])))


_COMMANDS = {
    "clean": _clean,
    "checkout": _checkout,
    "switch": _switch,
    "restore": _restore,
    "reset": _reset,
    "rm": _rm,
    "stash": _stash,
    "branch": _branch,
}
