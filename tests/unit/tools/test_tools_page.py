"""docs/tools.md names every tool and its parameters, as they are."""

import re
from pathlib import Path

from agent_cli.extensions.loading import OURS, built_in
from agent_cli.runtime import built_in_tools

PAGE = Path(__file__).parents[3] / "docs" / "tools.md"


def test_the_page_lists_each_tool_with_its_parameters() -> None:
    documented = re.findall(
        r"^\| `(\w+\(.*?\))` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    plugins = [origin.load() for origin in built_in(OURS)]
    tools = [*built_in_tools(), *(tool for plugin in plugins for tool in plugin.tools)]
    present = [f"{tool.name}({', '.join(tool.schema['properties'])})" for tool in tools]
    assert sorted(documented) == sorted(present)
