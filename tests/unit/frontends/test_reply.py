"""A reply that arrives in pieces."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.blocks.reply_block import ReplyBlock
from tests.kit.chat import REPLY

LOOK = Appearance()
PIECES = st.sampled_from(
    [
        "# Title\n",
        "text",
        " ",
        "\n",
        "\n\n",
        "- item\n",
        "  - deep\n",
        "1. one\n",
        "```python\n",
        "```\n",
        "~~~\n",
        "x = 1\n",
        "    code\n",
        "> quote\n",
        "| a | b |\n",
        "|---|---|\n",
        "---\n",
        "===\n",
        "`c`",
        "**b**",
        "*",
        "_",
        "[l](https://e.org)",
        "[r]: https://e.org\n",
        "<b>",
        "\\",
        "\r\n",
        "\t",
        "\x1b[31m",
        "中文",
        "![i](x.png)",
    ]
)


def shown(block: ReplyBlock, width: int = 40) -> list[tuple[str, int, str | None]]:
    return [
        (line.text, getattr(line, "gutter", 0), getattr(line, "joint", None))
        for line in block.render(width, LOOK)
    ]


@settings(max_examples=400, deadline=None)
@given(
    st.lists(PIECES, max_size=25).map("".join),
    st.lists(st.integers(1, 12), min_size=1),
    st.booleans(),
)
def test_the_pieces_it_came_in_cannot_be_seen_in_the_end(
    text: str, sizes: list[int], drawn: bool
) -> None:
    streamed = ReplyBlock()
    start = turn = 0
    while start < len(text):
        size = sizes[turn % len(sizes)]
        streamed.append(text[start : start + size])
        if drawn:
            streamed.render(40, LOOK)
        start, turn = start + size, turn + 1
    streamed.finish()
    assert shown(streamed) == shown(ReplyBlock(text))


def test_parts_rendered_one_by_one_are_the_whole_rendered_at_once() -> None:
    from agent_cli.frontends.tui.markdown_lines import render

    whole = [line.text for line in render(REPLY, 77, LOOK)]
    assert [line.text[2:] for line in ReplyBlock(REPLY).render(80, LOOK)] == whole


def test_only_the_open_part_is_drawn_again() -> None:
    block = ReplyBlock()
    block.append("first\n\nsecond\n\nthi")
    before = block.render(40, LOOK)
    block.append("rd")
    after = block.render(40, LOOK)
    assert after[0] is before[0]
    assert after[-1].text == "  third"


def test_open_code_is_plain_and_coloured_when_it_is_whole() -> None:
    block = ReplyBlock()
    look = Appearance(styles=_coloured())
    block.append("```python\nreturn 1\nreturn")
    assert all(not segment.style for line in block.render(40, look) for segment in line)
    block.append(" 2\n```\n")
    assert any(segment.style for line in block.render(40, look) for segment in line)
    assert [line.text for line in block.render(40, look)] == ["    return 1", "    return 2"]


def test_each_line_of_open_code_is_drawn_once() -> None:
    block = ReplyBlock()
    block.append("```\none\ntwo\nth")
    before = block.render(40, LOOK)
    block.append("ree\nfour")
    after = block.render(40, LOOK)
    assert [line.text.strip() for line in after] == ["one", "two", "three", "four"]
    assert after[0] is before[0]
    assert after[1] is before[1]


def test_a_link_shows_where_it_leads_and_does_nothing() -> None:
    (line,) = ReplyBlock("[click](javascript:alert(1)) [web](https://e.org)").render(80, LOOK)
    assert "web (https://e.org)" in line.text
    assert not any(segment.style and (segment.style.link or segment.style.meta) for segment in line)


def _coloured():  # type: ignore[no-untyped-def]
    from rich.style import Style

    from agent_cli.frontends.tui.appearance import Styles

    return Styles(keyword=Style(color="red"), number=Style(color="blue"))
