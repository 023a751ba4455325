"""What a plugin is: a name, tools, slash commands, and what happens when it comes and goes."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_cli.core.extension_protocol import SlashCommand
from agent_cli.core.tool import AnyTool
from agent_cli.extensions.hook_definition import Hook


@dataclass(frozen=True)
class PluginContext:
    """What a plugin is told when it is loaded. It holds no keys and no say in permissions."""

    workspace: Path
    """The directory the session works in."""
    data: Path
    """A directory of the plugin's own for what it wants to keep; it may not exist yet."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The configuration's `[plugins.settings.NAME]` table."""
    tell: Callable[[str], None] = lambda _text: None
    """Shows the user a line."""


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """A plugin, whole. A package names one in its entry points; a tool file becomes one."""

    name: str
    version: str = ""
    description: str = ""
    tools: Sequence[AnyTool] = ()
    commands: Sequence[SlashCommand] = ()
    hooks: Sequence[Hook] = ()
    initialize: Callable[[PluginContext], Awaitable[None]] | None = None
    """Runs before the tools are offered; if it fails, they are not."""
    cleanup: Callable[[], Awaitable[None]] | None = None
    """Runs after the tools are gone."""
