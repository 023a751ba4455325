"""A session's sandbox, found out when it is first needed."""

import asyncio

from agent_cli.safety.sandbox.tiers import Sandbox, Setting, find_sandbox


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
                self._found = await find_sandbox(self.setting)
            return self._found
