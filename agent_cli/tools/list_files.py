"""Lists what is in a directory."""

import asyncio
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from agent_cli.core.display import TableBlock
from agent_cli.core.errors import ToolFailure, refuse
from agent_cli.core.tool import Description, StatusTexts, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.language import mark, tr, trn
from agent_cli.lib.text import plural, size
from agent_cli.tools._aliases import other_names
from agent_cli.tools._files import path_target, title
from agent_cli.tools._listing import list_files, may_be_read
from agent_cli.tools._places import PLACE_ALIASES, SearchRoot, find_place, one_line
from agent_cli.tools._ripgrep import globs, options
from agent_cli.tools._secrets import describe_ruled_out

MAX_SHOWN = 500
MAX_COUNTED = 200_000
"""Entries after which a listing ends: nobody reads a directory of this size."""


class Params(ToolParams):
    """What to list."""

    path: str = "."
    """Directory."""
    recursive: bool = False


@dataclass(frozen=True)
class DirectoryEntry:
    """One line of a listing."""

    name: str
    kind: str
    """directory, file, link or something else."""
    size: int | None = None
    target: str = ""
    """Where a link leads."""

    @property
    def shown(self) -> str:
        """The name with a sign of what it is."""
        name = self.name if self.name.isprintable() else one_line(self.name)
        if self.kind == "directory":
            return f"{name}/"
        target = self.target if self.target.isprintable() else one_line(self.target)
        return f"{name} -> {target}" if self.kind == "link" else name

    def details(self, say: Callable[[str], str] = str) -> str:
        """Its size, and what is special about it, in the words of `say`."""
        amount = "" if self.size is None else size(self.size)
        special = say(self.kind) if self.kind not in ("directory", "file", "link") else ""
        hidden = say(mark("hidden")) if self.name.startswith(".") else ""
        return ", ".join(filter(None, (amount, special, hidden)))


@dataclass
class DirectoryListing:
    """Entries, and how many there are of each kind."""

    entries: list[DirectoryEntry] = field(default_factory=list)
    files: int = 0
    directories: int = 0
    whole: bool = True
    ruled_out: int = 0
    """Entries left out because of a rule."""

    @property
    def totals(self) -> str:
        """ "12 files, 3 directories", for the user."""
        files = trn("{n:,} file", "{n:,} files", self.files)
        directories = trn("{n:,} directory", "{n:,} directories", self.directories)
        figures = tr("{files}, {directories}", files=files, directories=directories)
        return figures if self.whole else tr("at least {figures}", figures=figures)

    @property
    def figures(self) -> str:
        """The same for the model."""
        directories = plural(self.directories, "directory", "directories")
        found = f"{plural(self.files, 'file')}, {directories}"
        return found if self.whole else f"at least {found}"


async def run(params: Params, context: ToolContext) -> ToolResult:
    """List one level, or everything below."""
    place = find_place(params.path, context)
    if place.is_file:
        raise refuse(f"{params.path} is a file, not a directory.", "Use Read to see what is in it.")
    if params.recursive:
        listing = await _below(place, params.path, context)
    else:
        listing = await asyncio.to_thread(_within, place.directory, context)
    lines = [_line(entry) for entry in listing.entries]
    left_out = listing.files + (0 if params.recursive else listing.directories) - len(lines)
    ruled_out = describe_ruled_out(listing.ruled_out)
    more = f"\n[{left_out:,} more are not shown: list a subdirectory, or use Glob.]"
    text = "\n".join(lines) or "The directory is empty."
    return ToolResult(
        llm_content=f"{text}\n\n{listing.figures}{more if left_out > 0 else ''}"
        f"{f'{chr(10)}[{ruled_out}]' if ruled_out else ''}",
        display=(_table(listing),) if listing.entries else (),
        summary=tr("Listed {totals}", totals=listing.totals),
        metadata={"files": listing.files, "directories": listing.directories},
    )


def _within(directory: str, context: ToolContext) -> DirectoryListing:
    """The entries of a directory, directories first."""
    listing = DirectoryListing()
    may_read, cancelled = context.may_read, context.cancelled.is_set
    found: list[tuple[bool, str]] = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if may_read is not None and not may_read(entry.path):
                    listing.ruled_out += 1
                    continue
                is_directory = entry.is_dir(follow_symlinks=False)
                listing.directories += is_directory
                listing.files += not is_directory
                found.append((not is_directory, entry.name))
                if len(found) >= MAX_COUNTED or cancelled():
                    listing.whole = False
                    break
    except OSError as error:
        raise ToolFailure(f"Cannot list {title(directory)}: {error.strerror}.") from error
    listing.entries = [_entry(directory, name) for _, name in sorted(found)[:MAX_SHOWN]]
    return listing


async def _below(place: SearchRoot, named: str, context: ToolContext) -> DirectoryListing:
    """The files below a directory, those near it first."""
    command = options(hidden=True)
    command.command += globs([], named=named)
    cut = len(place.prefix)
    found: list[str] = []
    listing = DirectoryListing()
    paths = list_files(command, place.directory, context)
    try:
        async for some in paths:
            kept, _ = may_be_read(some, context)
            listing.ruled_out += len(some) - len(kept)
            found += [path[cut:] for path in kept]
            if len(found) >= MAX_COUNTED:
                listing.whole = False
                break
    finally:
        await paths.aclose()
    listing.files = len(found)
    listing.directories = len({parent for path in found for parent in _parents(path)})
    found.sort(key=lambda path: (path.count("/"), path))
    listing.entries = await asyncio.to_thread(
        lambda: [_entry(place.directory, name) for name in found[:MAX_SHOWN]]
    )
    return listing


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]


def _entry(directory: str, name: str) -> DirectoryEntry:
    path = Path(directory) / name
    try:
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            return DirectoryEntry(name, "link", target=str(path.readlink()))
    except OSError:
        return DirectoryEntry(name, mark("unreadable"))
    if stat.S_ISDIR(found.st_mode):
        return DirectoryEntry(name, "directory")
    if stat.S_ISREG(found.st_mode):
        return DirectoryEntry(name, "file", found.st_size)
    return DirectoryEntry(name, mark("pipe, socket or device"))


def _line(entry: DirectoryEntry) -> str:
    """For the model."""
    details = entry.details()
    return f"{entry.shown}  ({details})" if details else entry.shown


def _table(listing: DirectoryListing) -> TableBlock:
    rows = tuple((entry.shown, entry.details(tr)) for entry in listing.entries)
    return TableBlock(columns=(tr("Name"), tr("Size")), rows=rows)


TOOL = Tool(
    name="ListFiles",
    kind=ToolKind.READONLY,
    params=Params,
    run=run,
    description=Description.beside(__file__),
    targets=path_target("path"),
    title=lambda params: title(params.path),
    aliases=("LS", "list_directory", "list_dir", "dir", "list", "read_directory", "tree"),
    param_aliases=PLACE_ALIASES | other_names(path="directory_path folder relative_workspace_path"),
    category="files",
    tags=("files", "directory"),
    status=StatusTexts(mark("Listing…"), mark("Listing failed")),
)
