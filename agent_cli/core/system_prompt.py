"""The system prompt: our fixed words, facts about the place, and the user's instructions.

It is built once per session and never changes after that, so that prompt caches stay warm.
"""

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from importlib import resources
from pathlib import Path

from agent_cli.lib.files import open_regular

INSTRUCTION_FILES = ("AGENTS.md", "CLAUDE.md")


@dataclass(frozen=True)
class PromptFacts:
    """Facts about where the session runs."""

    workspace: Path
    today: date
    added: tuple[Path, ...] = ()
    shell: str = "bash"
    trusted: bool = False
    """Whether the folder may speak here: even the name of a branch is somebody's text."""

    def __str__(self) -> str:
        lines = [
            f"- Workspace: {self.workspace}",
            *(f"- Also allowed: {path}" for path in self.added),
            *([f"- Git: {self._git()}"] if self.trusted else []),
            f"- System: {platform.system()} {platform.release()}, shell {self.shell}",
            f"- Date: {self.today.isoformat()}",
        ]
        return "\n".join(lines)

    def _git(self) -> str:
        return git_branch(self.workspace) or "not a repository"


def build(
    surroundings: PromptFacts,
    instructions: str = "",
    *,
    instead: str | None = None,
    appended: str | None = None,
) -> str:
    """The system prompt. `instead` takes the place of our own words."""
    own = instead if instead is not None else fixed_prompt()
    parts = [own.strip(), f"# Where you are\n{surroundings}"]
    if instructions:
        parts.append(f"# Instructions from the user and the project\n{instructions}")
    if appended:
        parts.append(appended.strip())
    return "\n\n".join(parts)


def fixed_prompt() -> str:
    """Our own words."""
    return resources.files("agent_cli.core").joinpath("system_prompt.md").read_text("utf-8")


def read_instructions(
    directories: Sequence[Path],
    most_bytes: int,
    *,
    own: Path | None = None,
    may_read: Callable[[Path], bool] = lambda _path: True,
) -> str:
    """The instruction files of these directories, farthest first, cut at the cap with a note.

    `own` is the user's directory: there, links may lead anywhere. `may_read` tells of any other
    file whether the model could have read it itself, unasked.
    """
    parts: list[str] = []
    left = most_bytes
    for directory in directories:
        path = _instruction_file(directory, follow=directory == own)
        if path is None:
            continue
        if directory != own and not may_read(path):
            parts.append(f'<instructions from="{path}">[not permitted]</instructions>')
            continue
        try:
            with os.fdopen(open_regular(path.resolve()), "rb") as file:
                data = file.read(left + 1)
        except (OSError, RuntimeError):
            continue
        text = data[:left].decode("utf-8", "replace").strip()
        if len(data) > left:
            text += f"\n[cut here: instruction files may be {most_bytes:,} bytes in all]"
        parts.append(f'<instructions from="{path}">\n{text}\n</instructions>')
        left -= min(left, len(data))
        if left <= 0:
            break
    return "\n".join(parts)


def instruction_directories(user: Path, root: Path, *, trusted: bool) -> list[Path]:
    """Where instructions may lie: the user's directory, and in a trusted folder the repository's
    directories down to the workspace."""
    if not trusted:
        return [user]
    parents: list[Path] = []
    for directory in (root, *root.parents):
        parents.append(directory)
        if (directory / ".git").exists():
            return [user, *reversed(parents)]
    return [user, root]


def instruction_files(root: Path) -> list[Path]:
    """The instruction files that a trusted workspace has, farthest first."""
    directories = instruction_directories(Path(), root, trusted=True)[1:]
    return [path for path in map(_instruction_file, directories) if path is not None]


def _instruction_file(directory: Path, *, follow: bool = False) -> Path | None:
    """The file of a directory; a link counts only if it stays there, or with `follow`."""
    for name in INSTRUCTION_FILES:
        path = directory / name
        try:
            inside = follow or path.resolve().is_relative_to(directory.resolve())
        except (OSError, RuntimeError):
            continue
        if inside and path.is_file():
            return path
    return None


def git_branch(directory: Path) -> str | None:
    """The branch checked out here, read from .git: git would run the repository's helpers."""
    for parent in (directory, *directory.parents):
        marker = parent / ".git"
        try:
            if marker.is_file():  # a worktree or submodule
                target = marker.read_text("utf-8").removeprefix("gitdir:").strip()
                marker = Path(os.path.normpath(parent / target))
            if marker.is_dir():
                head = (marker / "HEAD").read_text("utf-8")[:300].partition("\n")[0].strip()
                name = head.removeprefix("ref: refs/heads/")
                return f"branch {name}" if name != head else f"detached at {head[:12]}"
        except (OSError, UnicodeDecodeError):
            return None
    return None
