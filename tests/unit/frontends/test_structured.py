"""A final answer that must fit a schema."""

from collections.abc import Iterator

import pytest

from agent_cli.frontends.headless.structured import Structured
from agent_cli.lib import language


@pytest.fixture
def chinese() -> Iterator[None]:
    language.use("zh")
    yield
    language.use(language.SOURCE)


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize("answer", ["no JSON", '"a text"'])
def test_a_model_is_told_in_english(answer: str) -> None:
    structured = Structured({"type": "object"})
    again = structured.check(answer)
    assert again is not None
    assert again.isascii()
