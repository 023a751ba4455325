"""Large pastes that a chip stands for, in any language."""

from collections.abc import Iterator

import pytest

from agent_cli.frontends.shared.chips import Chips
from agent_cli.lib import language

PASTE = "one\n" * 20


@pytest.fixture(params=language.LANGUAGES)
def spoken(request: pytest.FixtureRequest) -> Iterator[str]:
    language.use(request.param)
    yield request.param
    language.use(language.SOURCE)


def test_a_chip_is_found_and_expanded_in_the_language_it_was_made_in(spoken: str) -> None:
    chips = Chips()
    first, second = chips.add(PASTE), chips.add("x" * 5_000)
    assert first == {"en": "[20 lines pasted #1]", "zh": "[粘贴 #1：20 行]"}[spoken]
    text = f"a {first} b {second} c"
    assert chips.expand(text) == f"a {PASTE} b {'x' * 5_000} c"
    found = chips.at(text, 2 + len(first))
    assert found is not None
    assert (found.start, found.end, found.text) == (2, 2 + len(first), PASTE)
    assert chips.at(text, 1) is None


def test_what_only_looks_like_a_chip_stays(spoken: str) -> None:
    chips = Chips()
    chip = chips.add(f"see {Chips().add(PASTE)}\n" * 20)
    typed = "[9 lines pasted #1] [粘贴 #1：9 行]"
    assert chips.expand(typed) == typed
    assert chips.expand(chip).count("#1") == 20
