"""The list of tools that a person reads."""

import pytest

from agent_cli import tools
from agent_cli.commands.tools import KINDS, OWN
from agent_cli.core.tool import AnyTool, ToolKind
from agent_cli.lib.discovery import values_named


@pytest.mark.parametrize("tool", values_named("TOOL", tools), ids=lambda tool: tool.name)
def test_what_our_own_tools_say_of_themselves_is_in_the_catalogues(tool: AnyTool) -> None:
    assert tool.description.short.split(". ")[0] in OWN


def test_what_tools_do_to_the_world_is_in_the_catalogues() -> None:
    assert set(KINDS) == set(ToolKind)
