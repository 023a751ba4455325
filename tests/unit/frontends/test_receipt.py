"""The receipt of a turn on the screen."""

from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.blocks.receipt_block import ReceiptBlock

LINE = (
    "1 file changed by tools +1 −1 · 3 files changed by shell +1 −3 · "
    "python3 -m http.server still runs on port 8765 · 5,560 tokens, unknown price"
)


def test_a_narrow_screen_hides_neither_the_port_nor_the_price() -> None:
    block = ReceiptBlock(LINE, ["a.txt: changed by tools +1 −1"])
    for width in (60, 100):
        strips = block.render(width, Appearance())
        assert all(strip.cell_length <= width for strip in strips)
        assert " ".join(" ".join(strip.text for strip in strips).split()) == LINE
        assert len(strips) <= block.guess_height(width)
    assert len(block.render(200, Appearance())) == 1
