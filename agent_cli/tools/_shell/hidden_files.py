"""The workspace's secret files: found before a command that nobody was asked about, told after."""

from __future__ import annotations

import asyncio
import os
import re

from agent_cli.safety.paths import Workspace
from agent_cli.safety.sandbox import SensitiveFiles, SensitiveFinder

_MAX_NAMED = 10
_DENIED = re.compile(r"permission denied|\bEACCES\b|\[Errno 13\]", re.IGNORECASE)


class HiddenFiles:
    """Which files a command cannot read, and which of them the model has been told about."""

    def __init__(self) -> None:
        self._finder = SensitiveFinder()
        self._now = SensitiveFiles()
        self._told: frozenset[str] = frozenset()
        self._told_limit = False

    async def find(self, workspace: Workspace) -> tuple[str, ...]:
        """The secret files of the workspace, as they are now."""
        roots = (workspace.root, *workspace.added)
        self._now = await asyncio.to_thread(self._finder.find, roots)
        return self._now.secret

    def met(self, output: str) -> list[str]:
        """Those that a command was refused, as far as its output tells."""
        if not _DENIED.search(output):
            return []
        return [path for path in self._now.secret if os.path.basename(path) in output]  # noqa: PTH119

    def note(self, output: str, workspace: Workspace) -> str:
        """What to tell about them: all once, then those that were asked for."""
        found = frozenset(self._now.secret)
        wanted = self.met(output) if found <= self._told else sorted(found)
        self._told |= found
        parts = []
        if wanted:
            parts.append(
                "secret files cannot be read by a command that runs without asking: "
                f"{_names(wanted, workspace)}. If you need one, ask for it with Read"
            )
        if not self._now.is_complete and not self._told_limit:
            self._told_limit = True
            parts.append(
                "the workspace is too large to look for secret files everywhere: some may not be "
                "protected"
            )
        return "; ".join(parts)


def _names(paths: list[str], workspace: Workspace) -> str:
    shown = [os.path.relpath(path, workspace.root) for path in paths[:_MAX_NAMED]]
    rest = len(paths) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")
