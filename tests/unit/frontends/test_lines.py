"""Text in lines of a width."""

from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.displays.output_display import output_lines
from agent_cli.frontends.tui.styled_lines import crop, cuts, plain, shorten, wrap
from agent_cli.safety.sanitise import clean

texts = (
    st.text(alphabet="ab /。，中文é😀\u0301 xyz", max_size=80)
    .map(clean)
    .map(lambda t: t.replace("\n", " "))
)


@given(texts, st.integers(4, 30))
@example("aaa。 \u0301", 5)
def test_wrapped_lines_fit_and_joined_again_are_the_text(text: str, width: int) -> None:
    found = cuts(text, width)
    assert all(cell_len(text[cut.start : cut.end]) <= width for cut in found)
    joined = "".join((cut.joint or "") + text[cut.start : cut.end] for cut in found)
    assert joined.rstrip(" ") == text.rstrip(" ")


@given(texts, st.integers(1, 30))
def test_what_is_cropped_or_shortened_fits(text: str, width: int) -> None:
    assert cell_len(plain(crop([(text, None)], width))) <= width
    assert cell_len(shorten(text, width)) <= width


def test_lines_break_at_spaces() -> None:
    assert [line.text for line in wrap([("one two three", None)], 8)] == ["one two", "three"]


def test_a_long_word_breaks_where_it_must() -> None:
    assert [line.text for line in wrap([("abcdefghij", None)], 4)] == ["abcd", "efgh", "ij"]


def test_chinese_breaks_anywhere_but_not_before_a_full_stop() -> None:
    assert [line.text for line in wrap([("你好世界。", None)], 8)] == ["你好世", "界。"]


def test_both_ends_of_a_path_stay_visible() -> None:
    assert shorten("src/one/two/three/four/auth.py", 16) == "src/…/auth.py"


def test_a_command_is_shortened_between_words() -> None:
    command = "docker build -t shop . && docker run --rm shop pytest -q tests/ --maxfail=1"
    assert len(shorten(command, 40)) <= 40
    assert " … " in shorten(command, 40)


def test_of_a_very_long_line_of_output_the_beginning_is_drawn() -> None:
    lines = output_lines(f"{'x' * 30_000}\nend", 100, Appearance())
    assert len(lines) < 50
    assert "26,000 characters are not shown" in lines[-2].text
    assert lines[-1].text == "end"
