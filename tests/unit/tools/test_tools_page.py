"""The pages about the tools say what the registry says, once."""

from pathlib import Path

from docs.tools_reference import all_tools, reference

DOCS = Path(__file__).parents[3] / "docs"


def test_every_tool_is_described_in_the_reference_and_only_there() -> None:
    page = (DOCS / "tools.md").read_text(encoding="utf-8")
    reference_page = (DOCS / "tools-reference.md").read_text(encoding="utf-8")
    for tool in all_tools():
        assert f"## {tool.name}\n" in reference_page
        assert tool.description.first_sentence not in page


def test_the_reference_is_what_would_be_generated_now() -> None:
    written = (DOCS / "tools-reference.md").read_text(encoding="utf-8")
    assert written == reference(), "make docs/tools-reference.md"
