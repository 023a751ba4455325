"""What was counted, as data and in words."""

from dataclasses import dataclass

from agent_cli.lib.text import plural, size

DELETES = "deletes"
OVERWRITES = "overwrites"
MOVES = "moves away"
CHANGES = "changes in place"
MODES = "changes the mode of"
OWNERS = "changes the owner of"
DISCARDS = "discards changes in"

LOSES_BYTES = frozenset({DELETES, OVERWRITES})
ASKS_GIT = frozenset({DELETES, OVERWRITES, CHANGES})
_PHRASES = {MOVES: "moves {} away", CHANGES: "changes {} in place"}
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
        unknown = (f"not counted: {text}" for text in self.unknown)
        return tuple(dict.fromkeys((*counted, *notes, *unknown)))

    def of(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """What was counted for one simple command, in words."""
        mine = (each.lines() for each in self.touched if each.command == command)
        notes = (note.text for note in self.notes if note.command == command)
        return tuple(dict.fromkeys((*(line for lines in mine for line in lines), *notes)))


def _main(touched: Touched) -> str:
    things = []
    if touched.files or not touched.directories:
        things.append(plural(touched.files, "file"))
    if touched.directories and (not things or touched.verb in {MODES, OWNERS}):
        things.append(plural(touched.directories, "directory", "directories"))
    amount = " and ".join(things)
    if touched.at_least:
        amount = f"at least {amount}"
    text = _PHRASES.get(touched.verb, touched.verb + " {}").format(amount)
    if touched.verb in LOSES_BYTES and touched.bytes:
        text += f", {size(touched.bytes)}"
    return text


def _about_git(touched: Touched) -> list[str]:
    lines = []
    if touched.repositories:
        what = plural(touched.repositories, "git repository", "git repositories")
        lines.append(f"{what} with all history")
    if touched.verb not in ASKS_GIT or not touched.files:
        return lines
    untracked, changed = touched.not_in_git, touched.uncommitted
    if untracked == touched.files and touched.repositories:
        return lines  # what they were in goes with them, and that is said
    if not touched.has_repository:
        whose = "it is" if touched.files == 1 else "they are"
        lines.append(_listed(f"{whose} in no git repository", touched.names, touched.files))
        return lines
    if untracked is None:
        lines.append("how many of them are not in git could not be found out in time")
    elif untracked:
        which = _of_them(touched, untracked, "is", "are")
        lines.append(_listed(f"{which} not in git", touched.not_in_git_names, untracked))
    if changed:
        which = _of_them(touched, changed, "has", "have")
        text = f"{which} changes that are not in git"
        lines.append(_listed(text, touched.uncommitted_names, changed))
    return lines


def _about_place(touched: Touched) -> list[str]:
    if not touched.outside:
        return []
    count = "" if touched.files == touched.outside == 1 else f"{touched.outside:,} "
    return [_listed(f"{count}outside the project", touched.outside_names, touched.outside)]


def _of_them(touched: Touched, count: int, one: str, many: str) -> str:
    if touched.files == 1:
        return f"it {one}"
    if count == touched.files and not touched.at_least:
        return f"all of them {many}"
    least = "at least " if touched.at_least else ""
    return f"{least}{count:,} of them {one if count == 1 else many}"


def _listed(text: str, names: tuple[str, ...], count: int) -> str:
    if not names:
        return text
    shown = list(names[:_MOST_NAMES])
    if count > len(shown):
        shown.append("…")
    return f"{text}: {', '.join(shown)}"
