"""Typing is not answering."""

from hypothesis import given
from hypothesis import strategies as st

from agent_cli.frontends.shared.typed_ahead import ARM, TypedAhead

GAPS = st.lists(st.floats(0.0, ARM - 0.001), max_size=40)


@given(before=st.floats(0, 100), gaps=GAPS)
def test_no_key_of_a_burst_that_began_before_the_paint_answers(
    before: float, gaps: list[float]
) -> None:
    guard = TypedAhead()
    now = 1000.0
    assert not guard.may_answer(now - before)
    guard.mark_painted(now)
    for gap in gaps:
        now += gap
        assert not guard.may_answer(now)
        guard.mark_typed(now)


@given(gaps=GAPS, pause=st.floats(ARM + 0.001, 1000))
def test_after_a_pause_a_key_answers(gaps: list[float], pause: float) -> None:
    guard = TypedAhead()
    now = 1000.0
    guard.mark_painted(now)
    for gap in gaps:
        now += gap
        guard.mark_typed(now)
    assert guard.may_answer(now + pause)


@given(late=st.floats(0, 100))
def test_a_key_pressed_before_the_paint_and_delivered_late_does_not_answer(late: float) -> None:
    guard = TypedAhead()
    guard.mark_painted(1000.0)
    assert not guard.may_answer(1000.0 - late)
    guard.mark_typed(1000.0 - late)
    assert not guard.may_answer(1000.0 + ARM / 2)
