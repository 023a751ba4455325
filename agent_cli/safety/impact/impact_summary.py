"""What was counted, and the reasons that tell it."""

from dataclasses import dataclass

from agent_cli.lib.text import size
from agent_cli.safety.reasons import Reason, because

DELETES = "deletes"
OVERWRITES = "overwrites"
MOVES = "moves"
CHANGES = "changes"
MODES = "changes_modes"
OWNERS = "changes_owners"
DISCARDS = "discards"
"""Verbs, each the code of a reason."""

LOSES_BYTES = frozenset({DELETES, OVERWRITES})
ASKS_GIT = frozenset({DELETES, OVERWRITES, CHANGES})
_MAX_NAMES = 3


@dataclass(frozen=True)
class Touched:
    """One group of files that one simple command would touch."""

    verb: str
    paths: tuple[str, ...]
    """Where it strikes, real paths; what lies below directories is not listed."""
    command: tuple[str, ...] = ()
    """Its words; dots stand for what is only known when it runs."""
    files: int = 0
    directories: int = 0
    bytes: int = 0
    not_in_git: int | None = 0
    """Untracked or ignored files, or all where there is no repository; None: not known."""
    uncommitted: int | None = 0
    """Files in git whose present content is not; None: not known."""
    outside: int = 0
    """Files outside the workspace."""
    repositories: int = 0
    """Git repositories that go with their history."""
    has_repository: bool = True
    """Whether any of the files lies in a git repository."""
    at_least: bool = False
    """Counting was stopped by the clock."""
    names: tuple[str, ...] = ()
    """The first few, the most precious first; fit to be shown."""
    not_in_git_names: tuple[str, ...] = ()
    uncommitted_names: tuple[str, ...] = ()
    outside_names: tuple[str, ...] = ()

    def lines(self) -> tuple[Reason, ...]:
        """What the user should know, the main thing first."""
        details = (*_about_git(self), *_about_place(self))
        names = () if details else self.names
        return (_list_names(_main(self), names, self.files), *details)


@dataclass(frozen=True)
class Note:
    """A consequence that is no file."""

    command: tuple[str, ...]
    loss: Reason


@dataclass(frozen=True)
class Impact:
    """All that the commands of one line would touch."""

    touched: tuple[Touched, ...] = ()
    notes: tuple[Note, ...] = ()
    unknown: tuple[Reason, ...] = ()
    """What could not be counted and why."""

    def lines(self) -> tuple[Reason, ...]:
        """Everything, one fact a line."""
        counted = (line for touched in self.touched for line in touched.lines())
        notes = (note.loss for note in self.notes)
        unknown = (because("not_counted", what=text) for text in self.unknown)
        return tuple(dict.fromkeys((*counted, *notes, *unknown)))

    def of(self, command: tuple[str, ...]) -> tuple[Reason, ...]:
        """What was counted for one simple command."""
        mine = (each.lines() for each in self.touched if each.command == command)
        notes = (note.loss for note in self.notes if note.command == command)
        return tuple(dict.fromkeys((*(line for lines in mine for line in lines), *notes)))


def _main(touched: Touched) -> Reason:
    told = because(touched.verb, things=_things(touched))
    if touched.verb in LOSES_BYTES and touched.bytes:
        return because("with_size", what=told, size=size(touched.bytes))
    return told


def _things(touched: Touched) -> Reason:
    files = because("files", n=touched.files)
    directories = because("directories", n=touched.directories)
    things = files
    if touched.directories and not touched.files:
        things = directories
    elif touched.directories and touched.verb in {MODES, OWNERS}:
        things = because("both", one=files, other=directories)
    return because("at_least", things=things) if touched.at_least else things


def _about_git(touched: Touched) -> list[Reason]:
    lines = []
    if touched.repositories:
        lines.append(because("repositories", n=touched.repositories))
    if touched.verb not in ASKS_GIT or not touched.files:
        return lines
    untracked, changed = touched.not_in_git, touched.uncommitted
    if untracked == touched.files and touched.repositories:
        return lines  # what they were in goes with them, and that is said
    if not touched.has_repository:
        alone = because("no_repository", n=touched.files)
        return [*lines, _list_names(alone, touched.names, touched.files)]
    if untracked is None:
        lines.append(because("git_unknown"))
    elif untracked:
        told = _some(touched, untracked, "not_in_git", "none_in_git")
        lines.append(_list_names(told, touched.not_in_git_names, untracked))
    if changed:
        told = _some(touched, changed, "uncommitted", "all_uncommitted")
        lines.append(_list_names(told, touched.uncommitted_names, changed))
    return lines


def _about_place(touched: Touched) -> list[Reason]:
    if not touched.outside:
        return []
    if touched.files == touched.outside == 1:
        told = because("outside_project")
    else:
        told = because("some_outside_project", n=touched.outside)
    return [_list_names(told, touched.outside_names, touched.outside)]


def _some(touched: Touched, count: int, some: str, every: str) -> Reason:
    """So many of the files, or all of them, as far as they were counted."""
    if touched.files == 1 or (count == touched.files and not touched.at_least):
        return because(every, n=count)
    told = because(some, n=count)
    return because("at_least", things=told) if touched.at_least else told


def _list_names(told: Reason, names: tuple[str, ...], count: int) -> Reason:
    if not names:
        return told
    shown = list(names[:_MAX_NAMES])
    if count > len(shown):
        shown.append("…")
    return because("with_names", what=told, names=", ".join(shown))
