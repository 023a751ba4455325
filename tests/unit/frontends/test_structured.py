"""A final answer that must fit a schema."""

from collections.abc import Iterator

import pytest

from agent_cli.frontends.structured import Structured
from agent_cli.lib import language


@pytest.fixture
def chinese() -> Iterator[None]:
    language.use("zh")
    yield
    language.use(language.SOURCE)


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize("answer", ["no JSON", '"a text"'])
def test_what_does_not_fit_is_told_in_english_whatever_is_spoken(answer: str) -> None:
    structured = Structured({"type": "object"})
    again = structured.check(answer)
    assert again is not None
    assert again.isascii()
    assert structured.problem is not None
    assert structured.problem.isascii()
