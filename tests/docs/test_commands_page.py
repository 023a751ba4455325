"""The page of slash commands and keys is what the registry and the table say."""

from docs.commands_reference import page
from tests.kit.program import ROOT


def test_the_page_is_up_to_date() -> None:
    shown = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert shown == page(), "make docs/commands.md writes it"
