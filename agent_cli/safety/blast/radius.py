"""What was counted, as data and in words."""

from dataclasses import dataclass

from agent_cli.lib.language import mark, tr, trn
from agent_cli.lib.text import size

DELETES = "deletes"
OVERWRITES = "overwrites"
MOVES = "moves away"
CHANGES = "changes in place"
MODES = "changes the mode of"
OWNERS = "changes the owner of"
DISCARDS = "discards changes in"

LOSES_BYTES = frozenset({DELETES, OVERWRITES})
ASKS_GIT = frozenset({DELETES, OVERWRITES, CHANGES})
_PHRASES = {
    DELETES: mark("deletes {things}"),
    OVERWRITES: mark("overwrites {things}"),
    MOVES: mark("moves {things} away"),
    CHANGES: mark("changes {things} in place"),
    MODES: mark("changes the mode of {things}"),
    OWNERS: mark("changes the owner of {things}"),
    DISCARDS: mark("discards changes in {things}"),
}
_MOST_NAMES = 3


@dataclass(frozen=True)
class Touched:
    """One group of files that one simple command would touch."""

    verb: str
    command: tuple[str, ...]
    """Its words; dots stand for what is only known when it runs."""
    paths: tuple[str, ...]
    """Where it strikes, real paths; what lies below directories is not listed."""
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

    def lines(self) -> tuple[str, ...]:
        """What a person should know, the main thing first."""
        details = (*_about_git(self), *_about_place(self))
        names = () if details else self.names
        return (_listed(_main(self), names, self.files), *details)


@dataclass(frozen=True)
class Note:
    """A consequence that is no file, in words."""

    command: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class BlastRadius:
    """All that the commands of one line would touch."""

    touched: tuple[Touched, ...] = ()
    notes: tuple[Note, ...] = ()
    unknown: tuple[str, ...] = ()
    """What could not be counted and why, in words."""

    def lines(self) -> tuple[str, ...]:
        """Everything in words, one fact a line."""
        counted = (line for touched in self.touched for line in touched.lines())
        notes = (note.text for note in self.notes)
        unknown = (tr("not counted: {what}", what=text) for text in self.unknown)
        return tuple(dict.fromkeys((*counted, *notes, *unknown)))

    def of(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """What was counted for one simple command, in words."""
        mine = (each.lines() for each in self.touched if each.command == command)
        notes = (note.text for note in self.notes if note.command == command)
        return tuple(dict.fromkeys((*(line for lines in mine for line in lines), *notes)))


def _main(touched: Touched) -> str:
    text = tr(_PHRASES[touched.verb], things=_things(touched))
    if touched.verb in LOSES_BYTES and touched.bytes:
        return tr("{what}, {size}", what=text, size=size(touched.bytes))
    return text


def _things(touched: Touched) -> str:
    files = trn("{n:,} file", "{n:,} files", touched.files)
    directories = trn("{n:,} directory", "{n:,} directories", touched.directories)
    if not touched.directories:
        things = files
    elif not touched.files:
        things = directories
    elif touched.verb in {MODES, OWNERS}:
        things = tr("{files} and {directories}", files=files, directories=directories)
    else:
        things = files
    return tr("at least {things}", things=things) if touched.at_least else things


def _about_git(touched: Touched) -> list[str]:
    lines = []
    if touched.repositories:
        lines.append(
            trn(
                "{n:,} git repository with all history",
                "{n:,} git repositories with all history",
                touched.repositories,
            )
        )
    if touched.verb not in ASKS_GIT or not touched.files:
        return lines
    untracked, changed = touched.not_in_git, touched.uncommitted
    if untracked == touched.files and touched.repositories:
        return lines  # what they were in goes with them, and that is said
    if not touched.has_repository:
        is_one = touched.files == 1
        text = tr("it is in no git repository") if is_one else tr("they are in no git repository")
        lines.append(_listed(text, touched.names, touched.files))
        return lines
    if untracked is None:
        lines.append(tr("how many of them are not in git could not be found out in time"))
    elif untracked:
        text = _not_in_git(touched, untracked)
        lines.append(_listed(text, touched.not_in_git_names, untracked))
    if changed:
        lines.append(_listed(_changed(touched, changed), touched.uncommitted_names, changed))
    return lines


def _about_place(touched: Touched) -> list[str]:
    if not touched.outside:
        return []
    if touched.files == touched.outside == 1:
        text = tr("outside the project")
    else:
        text = tr("{n:,} outside the project", n=touched.outside)
    return [_listed(text, touched.outside_names, touched.outside)]


def _not_in_git(touched: Touched, count: int) -> str:
    if touched.files == 1:
        return tr("it is not in git")
    if touched.at_least:
        return trn(
            "at least {n:,} of them is not in git", "at least {n:,} of them are not in git", count
        )
    if count == touched.files:
        return tr("all of them are not in git")
    return trn("{n:,} of them is not in git", "{n:,} of them are not in git", count)


def _changed(touched: Touched, count: int) -> str:
    if touched.files == 1:
        return tr("it has changes that are not in git")
    if touched.at_least:
        return trn(
            "at least {n:,} of them has changes that are not in git",
            "at least {n:,} of them have changes that are not in git",
            count,
        )
    if count == touched.files:
        return tr("all of them have changes that are not in git")
    return trn(
        "{n:,} of them has changes that are not in git",
        "{n:,} of them have changes that are not in git",
        count,
    )


def _listed(text: str, names: tuple[str, ...], count: int) -> str:
    if not names:
        return text
    shown = list(names[:_MOST_NAMES])
    if count > len(shown):
        shown.append("…")
    return tr("{what}: {names}", what=text, names=", ".join(shown))
