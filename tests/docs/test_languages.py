"""The Chinese README has what the English one has."""

import re

from tests.kit.documents import commands, links
from tests.kit.program import ROOT

ENGLISH, CHINESE = ROOT / "README.md", ROOT / "README.zh.md"


def test_both_lead_to_the_same_pages() -> None:
    ours, theirs = {"README.md", "README.zh.md"}, set(links(ENGLISH))
    assert set(links(CHINESE)) - ours == theirs - ours


def test_both_name_the_same_commands() -> None:
    prompts = re.compile(r"(?<=-p )\S.*?(?= --|$)")

    def named(page: str) -> set[str]:
        found = (each for each in commands() if each.page == page)
        return {prompts.sub("…", " ".join(each.arguments)) for each in found}

    assert named(CHINESE.name) == named(ENGLISH.name)


def test_both_have_the_same_sections() -> None:
    english, chinese = (
        len(re.findall(r"^## ", page.read_text(encoding="utf-8"), re.MULTILINE))
        for page in (ENGLISH, CHINESE)
    )
    assert english == chinese
