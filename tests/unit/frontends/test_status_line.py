"""The status line as a value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.frontends.tui.status import Status, render_status

FULL = Status(
    mode="default",
    model="claude-sonnet-4-5",
    sandbox="bubblewrap",
    branch="main",
    context=0.21,
    cost=0.04,
    elapsed=12.3,
    tokens_per_second=62,
)


def test_all_of_it_stands_on_a_wide_line_with_the_hint_at_the_right() -> None:
    line = render_status(FULL, 140).plain
    assert line.startswith(
        "default ⇧⇥   claude-sonnet-4-5   sandbox bubblewrap   main   ctx ▂ 21 %   $0.04   12 s   62 tok/s"
    )
    assert line.endswith("^P commands")
    assert len(line) == 140


def test_what_matters_least_goes_first() -> None:
    assert render_status(FULL, 56).plain.startswith(
        "default ⇧⇥   claude-sonnet-4-5   ctx ▂ 21 %   $0.04"
    )
    assert render_status(FULL, 24).plain.startswith("default ⇧⇥   ctx ▂ 21 %")
    assert render_status(FULL, 8).plain.startswith("default")


def test_an_unknown_price_is_not_zero() -> None:
    assert "$?" in render_status(Status(cost=None), 80).plain
    assert "$0.00" in render_status(Status(), 80).plain


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0, "▁ 0 %"), (0.03, "▁ 3 %"), (0.5, "▅ 50 %"), (1, "█ 100 %"), (7, "█ 100 %")],
)
def test_the_bar_grows_with_the_context(share: float, shown: str) -> None:
    assert f"ctx {shown}" in render_status(Status(context=share), 80).plain


@pytest.mark.parametrize(("seconds", "shown"), [(3.4, "3 s"), (75, "1:15 min"), (3700, "1:01 h")])
def test_time_is_told_in_words(seconds: float, shown: str) -> None:
    assert shown in render_status(Status(elapsed=seconds), 80).plain


@given(width=st.integers(1, 200), name=st.text(max_size=60))
def test_it_never_gets_wider_than_its_line_nor_a_second_one(width: int, name: str) -> None:
    line = render_status(Status(model=name, branch=name, mode="plan", hint=name), width)
    assert line.cell_length <= width
    assert "\n" not in line.plain
    assert "\x1b" not in line.plain
