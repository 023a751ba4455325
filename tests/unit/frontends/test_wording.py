"""Figures and sentences as a person reads them."""

import pytest

from agent_cli.controller.wording import beginning, sentences


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("0123456789", "0123456789"),
        ("0123456789a", "012345678…"),
        ("你好，世界", "你好，世界"),
        ("你好，世界。", "你好，世…"),
        ("a你好，世界", "a你好，世…"),
    ],
)
def test_a_text_is_cut_by_the_columns_it_takes(text: str, shown: str) -> None:
    assert beginning(text, 10) == shown


def test_a_sentence_may_be_missing() -> None:
    assert sentences("Stopped.", "Too long.") == "Stopped. Too long."
    assert (sentences("", "Too long."), sentences("Stopped.", "")) == ("Too long.", "Stopped.")
