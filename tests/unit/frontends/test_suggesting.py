"""Suggestions of several lines."""

from agent_cli.frontends.shared.suggesting import first_of, left_of


def test_lines_are_suggested_one_after_the_other() -> None:
    both = "/undo\nnext"
    assert first_of(both) == "/undo"
    assert left_of(both, "/undo") == "next"
    assert left_of("next", "next") == ""


def test_whoever_says_something_else_is_suggested_nothing() -> None:
    assert left_of("/undo\nnext", "/help") == ""
    assert left_of("", "hello") == ""
    assert first_of("") == ""
