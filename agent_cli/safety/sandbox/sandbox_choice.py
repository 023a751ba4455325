"""A session's sandbox, found out when it is first needed."""

import asyncio
import os

from agent_cli.safety.sandbox.tiers import Sandbox, Setting, find_sandbox

_known: dict[tuple[Setting, str], Sandbox] = {}
"""What worked, by setting and search path: that does not change while the program runs."""


class SandboxChoice:
    """Tries the tiers once; whoever asks later gets the same answer."""

    def __init__(self, setting: Setting = "off") -> None:
        self.setting = setting
        self._found: Sandbox | None = None
        self._lock = asyncio.Lock()

    async def get(self) -> Sandbox:
        """The sandbox; raises SandboxUnavailable if one was asked for by name and does not work."""
        async with self._lock:
            if self._found is None:
                key = self.setting, os.environ.get("PATH", "")
                if key not in _known:
                    _known[key] = await find_sandbox(self.setting)
                self._found = _known[key]
            return self._found
