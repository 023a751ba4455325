"""The pages about the tools say what the registry says."""

import re
from pathlib import Path

from docs.tools_reference import all_tools, reference

DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_lists_each_tool_with_its_parameters() -> None:
    documented = re.findall(
        r"^\| `(\w+\(.*?\))` \|", (DOCS / "tools.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    present = [f"{tool.name}({', '.join(tool.schema['properties'])})" for tool in all_tools()]
    assert sorted(documented) == sorted(present)


def test_the_reference_is_what_would_be_generated_now() -> None:
    written = (DOCS / "tools-reference.md").read_text(encoding="utf-8")
    assert written == reference(), "make docs/tools-reference.md"
