"""The list of tools that a person reads."""

import pytest

from agent_cli import tools
from agent_cli.commands.lists import KINDS
from agent_cli.core.tool import AnyTool, ToolKind
from agent_cli.lib.discovery import values_named
from tests.kit.catalogues import described_tools

SENTENCES = [sentence for _, sentence in described_tools()]


@pytest.mark.parametrize("tool", values_named("TOOL", tools), ids=lambda tool: tool.name)
def test_what_our_own_tools_say_of_themselves_is_in_the_catalogues(tool: AnyTool) -> None:
    assert tool.description.first_sentence in SENTENCES


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_tool_is_described_in_one_sentence_first(sentence: str) -> None:
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_what_tools_do_to_the_world_is_in_the_catalogues() -> None:
    assert set(KINDS) == set(ToolKind)
