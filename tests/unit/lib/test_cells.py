"""Text in a terminal, where a Chinese character is two cells wide."""

import pytest
from rich.cells import cell_len

from agent_cli.lib.cells import pad, width_of, wrap


@pytest.mark.parametrize(
    "text", ["", "plain", "你好", "用法：agent", "a\u0301b", "“引号”…", "✅ 好", "⚠️ ok", "👨‍👩‍👧"]
)
def test_the_width_is_what_the_screen_takes_it_for(text: str) -> None:
    assert width_of(text) == cell_len(text)


def test_columns_are_padded_by_cells() -> None:
    assert pad("大小", 6) == "大小  "
    assert pad("大小", 6, right=True) == "  大小"
    assert pad("too long", 3) == "too long"


def test_lines_break_between_characters_but_not_before_punctuation() -> None:
    text = "列出保留的内容，或清除（见 agent checkpoints）；其余不变。"
    lines = wrap(text, 16)
    assert max(map(width_of, lines)) <= 16
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert not [line for line in lines if line[0] in "，。；）" or line[-1] == "（"]
    assert any("checkpoints" in line for line in lines), "words stay whole"


def test_english_breaks_at_its_words() -> None:
    assert wrap("one two  three", 7) == ["one two", "three"]
    assert wrap("", 7) == []
