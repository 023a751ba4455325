"""Only text and colours reach a screen."""

import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.safety.sanitise import (
    Cleaner,
    Span,
    Style,
    Styler,
    clean,
    for_model,
    oddities,
    parse_styles,
    visible,
)

FRAGMENTS = st.sampled_from(
    [
        *("\x1b", "[", "]", "31m", "0;", "\x07", "\x1b\\", "\x9b", "\x9d", "\x9c", "\x1b[8m", "\r"),
        *("\n", "\t", "\u202e", "\u200b", "\u0301", "\ufe0f", "\U000e0041", "\ud800", "漢", "é"),
        *("\x1bP", "\x1b(", "0", "?", "$", "\x18", "\u2028", "\x85", "\x00", "\x7f", "a b"),
    ]
)
HOSTILE = st.lists(FRAGMENTS | st.text(max_size=4), max_size=40).map("".join)


@given(HOSTILE)
def test_nothing_but_text_and_newlines_comes_out(text: str) -> None:
    shown = clean(text)
    for character in shown:
        assert character == "\n" or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl"}
    shown.encode("utf-8")


@given(HOSTILE, st.lists(st.integers(0, 80), max_size=8))
def test_cuts_make_no_difference(text: str, cuts: list[int]) -> None:
    cleaner = Cleaner()
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in pairwise(places)]
    assert "".join(map(cleaner.feed, pieces)) + cleaner.finish() == clean(text)


@given(HOSTILE)
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(HOSTILE)
def test_colours_do_not_change_the_text(text: str) -> None:
    assert "".join(span.text for span in parse_styles(text)) == clean(text)


@given(HOSTILE)
def test_nothing_stays_invisible_in_a_modal(text: str) -> None:
    shown = visible(text, one_line=True)
    categories = {unicodedata.category(character) for character in shown}
    assert not categories & {"Cc", "Cf", "Cs", "Zl", "Zp", "Co"}
    assert "\n" not in shown


@given(st.text())
def test_the_model_gets_valid_text_and_is_told_of_losses(text: str) -> None:
    shown, changed = for_model(text)
    shown.encode("utf-8")
    assert changed == (shown != text)


def test_bytes_may_be_cut_inside_a_character() -> None:
    cleaner = Cleaner()
    data = "é漢\x1b[1m😀".encode() + b"\xff"
    shown = "".join(cleaner.feed(data[n : n + 1]) for n in range(len(data))) + cleaner.finish()
    assert shown == "é漢😀\ufffd"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\r\nb\r\r\nc", "a\nb\nc"),
        ("10%\r20%", "10%\n20%"),
        ("a\tb\n漢\tc", "a       b\n漢      c"),
        ("\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;never ended", "0;never ended"),
        ("\x1b]0;open\nnext", "0;open\nnext"),
        ("\x1b[38;2;1;2;3mx\x1b[", "x"),
        ("\x1b[1\u00e9", "é"),
        ("👍\ufe0f\ufe0f\ufe0f!", "👍\ufe0f!"),
        ("a\x00\rb\x00\u2028c", "a\nb\nc"),
        ("nai\u0308ve", "nai\u0308ve"),
    ],
)
def test_clean_shows(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_floods_of_accents_are_cut_however_they_arrive() -> None:
    flood = "Z" + "\u0301\u200b" * 1000
    assert len(clean(flood)) == 5
    cleaner = Cleaner()
    assert len("".join(cleaner.feed(c) for c in flood)) == 5


def test_colours_become_styles() -> None:
    spans = parse_styles("a\x1b[1;31mb\x1b[0;48;5;200mc\x1b[38:2::1:2:3md\x1b[me")
    assert spans == (
        Span("a"),
        Span("b", Style(fg=1, bold=True)),
        Span("c", Style(bg=200)),
        Span("d", Style(fg=(1, 2, 3), bg=200)),
        Span("e"),
    )


@pytest.mark.parametrize(
    "codes", ["30;40", "8", "38;5;16;40", "38;2;0;0;1;48;2;0;0;0", "97;107", "38;5;231;48;5;15"]
)
def test_hidden_text_is_made_readable(codes: str) -> None:
    assert parse_styles(f"\x1b[{codes}mhidden") == (Span("hidden"),)


def test_a_style_survives_cuts() -> None:
    styler = Styler()
    spans = [*styler.feed("\x1b[3"), *styler.feed("1ma"), *styler.feed("b")]
    assert spans == [Span("a", Style(fg=1)), Span("b", Style(fg=1))]


@pytest.mark.parametrize("codes", ["999", ";;;", "38;5", "38;2;1", "38;9;1", "4:3", "9" * 100])
def test_senseless_colours_do_no_harm(codes: str) -> None:
    assert "".join(span.text for span in parse_styles(f"\x1b[{codes}mx")) == "x"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a\\u{202e}b"),
        ("a\rb\x1b[1m", "a\\rb\\x1b[1m"),
        ("a\u00a0b", "a\\xa0b"),
        ("\U000e0041", "\\u{e0041}"),
        ("x" + "\u200b" * 50, "x\\u{200b}×50 "),
        ("a\n\tb", "a\n        b"),
        ("grün 漢字 😀", "grün 漢字 😀"),
        ("\ud800", "\\u{d800}"),
    ],
)
def test_a_modal_shows(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("curl https://g\u043eogle.com", "xn--"),
        ("curl g\u043eogle.com", "xn--"),
        ("curl google.com\u4e3flogin.evil.com", "xn--"),
        ("curl google\u3002com", "google.com"),
        ("curl https://\u6587\u6863.com", "xn--"),
        ("c\u0430t file", "Cyrillic and Latin"),
        ("ｒｍ -rf", "look-alike"),
        ("https://google.com@evil.example/", "goes to evil.example"),
        ("https://xn--ggle-0nda.com", "another script"),
        ("rm\u200b", "invisible"),
        ("a\u202e", "direction"),
        ("a\rb", "carriage"),
        ("\x1b[2J", "control sequences"),
        ("a\u3000b", "spaces"),
    ],
)
def test_oddities_are_named(text: str, warning: str) -> None:
    assert any(warning in str(found) for found in oddities(text))


@pytest.mark.parametrize(
    "text",
    [
        "ls -la",
        "echo grün 漢字",
        "привет",
        "a\r\nb",
        "https://x.org/a@b",
        "cat 文档.md README.中文.md",
        "git commit -m '修复bug。更新README文档，共一处。'",
    ],
)
def test_ordinary_text_has_no_oddities(text: str) -> None:
    assert oddities(text) == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("hi\U000e0068", "hi"),
        ("a\x00b\x1b", "ab"),
        ("x\ud800", "x\ufffd"),
        ("a" + "\ufe00" * 9, "a\ufe00"),
        ("می\u200cخواهم 👨\u200d👩", "می\u200cخواهم 👨\u200d👩"),
        ("a\tb\r\n", "a\tb\r\n"),
    ],
)
def test_the_model_reads(text: str, shown: str) -> None:
    assert for_model(text) == (shown, shown != text)


@pytest.mark.parametrize(
    "piece", ["\x1b]0;", "\x9d", "\x1b[", "\x1b", "\x1b[31m", "e\u0301", "\r", "\t", "\u200b", "漢"]
)
@pytest.mark.parametrize("function", [clean, visible, oddities, for_model])
def test_work_grows_with_the_length_of_the_text_only(piece: str, function: object) -> None:
    assert callable(function)
    costs = []
    for size in (20_000, 160_000):
        text = piece * (size // len(piece))
        start = time.process_time()
        function(text)
        costs.append(time.process_time() - start)
    assert costs[1] < 24 * max(costs[0], 0.004)
