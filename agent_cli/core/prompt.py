"""The system prompt: our fixed words, facts about the place, and the person's instructions.

It is built once per session and never changes after that, so that prompt caches stay warm.
"""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib import resources
from pathlib import Path

INSTRUCTION_FILES = ("AGENTS.md", "CLAUDE.md")


@dataclass(frozen=True)
class Surroundings:
    """Facts about where the session runs."""

    workspace: Path
    today: date
    added: tuple[Path, ...] = ()
    shell: str = "bash"

    def __str__(self) -> str:
        lines = [
            f"- Workspace: {self.workspace}",
            *(f"- Also allowed: {path}" for path in self.added),
            f"- Git: {git_branch(self.workspace) or 'not a repository'}",
            f"- System: {platform.system()} {platform.release()}, shell {self.shell}",
            f"- Date: {self.today.isoformat()}",
        ]
        return "\n".join(lines)


def build(
    surroundings: Surroundings,
    instructions: str = "",
    *,
    instead: str | None = None,
    appended: str | None = None,
) -> str:
    """The system prompt. `instead` takes the place of our own words."""
    own = instead if instead is not None else fixed_prompt()
    parts = [own.strip(), f"# Where you are\n{surroundings}"]
    if instructions:
        parts.append(f"# Instructions of the person and the project\n{instructions}")
    if appended:
        parts.append(appended.strip())
    return "\n\n".join(parts)


def fixed_prompt() -> str:
    """Our own words."""
    return resources.files("agent_cli.core").joinpath("system_prompt.md").read_text("utf-8")


def read_instructions(directories: Sequence[Path], most_bytes: int) -> str:
    """The instruction files of these directories, farthest first, cut at the cap with a note."""
    parts: list[str] = []
    left = most_bytes
    for directory in directories:
        path = next((directory / n for n in INSTRUCTION_FILES if (directory / n).is_file()), None)
        if path is None:
            continue
        try:
            data = path.read_bytes()[: left + 1]
        except OSError:
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


def git_branch(directory: Path) -> str | None:
    """The branch checked out here, read from .git: git would run the repository's helpers."""
    for parent in (directory, *directory.parents):
        marker = parent / ".git"
        try:
            if marker.is_file():  # a worktree or submodule
                target = marker.read_text("utf-8").removeprefix("gitdir:").strip()
                marker = Path(os.path.normpath(parent / target))
            if marker.is_dir():
                head = (marker / "HEAD").read_text("utf-8").strip()
                name = head.removeprefix("ref: refs/heads/")
                return f"branch {name}" if name != head else f"detached at {head[:12]}"
        except (OSError, UnicodeDecodeError):
            return None
    return None
