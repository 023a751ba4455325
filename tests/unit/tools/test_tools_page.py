"""docs/tools.md names every tool and its parameters, as they are."""

import re
from pathlib import Path

from agent_cli.runtime import built_in_tools

PAGE = Path(__file__).parents[3] / "docs" / "tools.md"


def test_the_page_lists_each_tool_with_its_parameters() -> None:
    documented = re.findall(
        r"^\| `(\w+\(.*?\))` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    present = [f"{tool.name}({', '.join(tool.schema['properties'])})" for tool in built_in_tools()]
    assert sorted(documented) == sorted(present)
