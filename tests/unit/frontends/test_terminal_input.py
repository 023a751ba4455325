"""What comes in from the terminal."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.message import Message

from agent_cli.frontends.tui.terminal_input import InputParser


def fed(*pieces: str) -> list[Message]:
    parser = InputParser()
    messages = [message for piece in pieces for message in parser.feed(piece)]
    return messages + list(parser.feed(""))


def told(messages: list[Message]) -> list[str]:
    return [
        f"paste:{message.text}" if isinstance(message, events.Paste) else message.key
        for message in messages
        if isinstance(message, events.Paste | events.Key)
    ]


def test_a_paste_is_one_event_between_keys() -> None:
    assert told(fed("a\x1b[200~x\ny\x1b[201~b")) == ["a", "paste:x\ny", "b"]


@given(st.data())
def test_a_paste_cut_anywhere_is_still_one_event(data: st.DataObject) -> None:
    whole = "k\x1b[200~one\ntwo \x1b[31m three\x1b[201~z"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    ends = [0, *cuts, len(whole)]
    pieces = [whole[a:b] for a, b in pairwise(ends) if a < b]
    assert told(fed(*pieces)) == ["k", "paste:one\ntwo \x1b[31m three", "z"]


def test_a_start_mark_inside_a_paste_is_text() -> None:
    assert told(fed("\x1b[200~a\x1b[200~b\x1b[201~c")) == ["paste:a\x1b[200~b", "c"]


@pytest.mark.parametrize("sequence", ["\x1b\r", "\x1b\n", "\x1b[13;3u"])
def test_alt_enter_is_known_in_old_and_new_terminals(sequence: str) -> None:
    assert told(fed(sequence)) == ["alt+enter"]


def test_shift_enter_is_known_where_the_terminal_tells_it() -> None:
    assert told(fed("\x1b[13;2u")) == ["shift+enter"]


def test_a_key_that_begins_like_a_paste_is_a_key() -> None:
    assert told(fed("\x1b[20~")) == ["f9"]


def test_a_long_text_that_comes_at_once_is_a_paste_and_enter_after_it_a_key() -> None:
    text = "some words\r" * 100
    assert told(fed(f"{text}end\r")) == [f"paste:{text}end", "enter"]
    assert told(fed("x" * 600 + "\x03"))[-2:] == ["x", "ctrl+c"], "keys of other kinds are keys"
    assert told(fed("typed\r")) == [*"typed", "enter"]


def test_five_megabytes_take_no_time() -> None:
    text = "x" * 5_000_000
    start = time.process_time()
    data = f"\x1b[200~{text}\x1b[201~"
    messages = fed(*(data[at : at + 65_536] for at in range(0, len(data), 65_536)))
    assert told(messages) == [f"paste:{text}"]
    assert time.process_time() - start < 2
