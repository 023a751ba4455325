"""Replies put together from pieces."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from agent_cli.core.model import Finish
from agent_cli.models.reply_assembly import Assembler


def piece(index: int | None, arguments: str = "", id: str | None = None, name: str | None = None) -> dict[str, object]:  # fmt: skip
    return {"calls": [{"index": index, "id": id, "name": name, "arguments": arguments}]}


def calls(*pieces: dict[str, object]) -> list[tuple[str, str, str]]:
    assembler = Assembler("m", "openai")
    for each in pieces:
        assembler.add(each)
    return [(call.id, call.name, call.arguments) for call in assembler.message().calls]


def test_id_and_name_on_every_piece_are_one_call() -> None:
    assert calls(piece(0, '{"a"', "1", "T"), piece(0, ":1}", "1", "T")) == [("1", "T", '{"a":1}')]


def test_index_zero_for_all_is_told_apart_by_new_ids() -> None:
    seen = calls(piece(0, '{"a":1}', "1", "T"), piece(0, '{"b":2}', "2", "T"))
    assert [each[2] for each in seen] == ['{"a":1}', '{"b":2}']


def test_an_id_that_changes_midway_is_still_one_call() -> None:
    seen = calls(piece(0, '{"a"', "1", "T"), piece(0, ":1}", "2", "T"))
    assert [each[2] for each in seen] == ['{"a":1}']


def test_a_last_piece_that_repeats_the_call_is_not_glued() -> None:
    whole = piece(0, '{"a":1}', "1", "T")
    assert calls(whole, whole) == [("1", "T", '{"a":1}')]


def test_interleaved_and_sparse_indices() -> None:
    seen = calls(
        piece(0, '{"a"', "1", "T"), piece(7, '{"b"', "2", "U"), piece(0, ":1}"), piece(7, ":2}")
    )
    assert [(name, arguments) for _, name, arguments in seen] == [
        ("T", '{"a":1}'),
        ("U", '{"b":2}'),
    ]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_however_arguments_are_cut_they_come_out_whole(
    counts: list[int], data: st.DataObject
) -> None:
    wanted = [f'{{"n": {number}, "x": "{"ab" * size}"}}' for number, size in enumerate(counts)]
    pieces: list[dict[str, object]] = []
    for index, text in enumerate(wanted):
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
        bounds = [0, *cuts, len(text)]
        for start, end in itertools.pairwise(bounds):
            repeated = data.draw(st.booleans()) or start == 0
            pieces.append(
                piece(
                    index,
                    text[start:end],
                    f"id{index}" if repeated else None,
                    "T" if repeated else None,
                )
            )
    assert [arguments for _, _, arguments in calls(*pieces)] == wanted


def test_signed_thinking_is_merged_block_by_block() -> None:
    assembler = Assembler("m", "anthropic")
    for text, signature in (
        ("Let ", None),
        ("me ", None),
        ("", "sig1"),
        ("More", None),
        ("", "sig2"),
    ):
        block: dict[str, object] = {"type": "thinking", "thinking": text}
        assembler.add({"blocks": [block | ({"signature": signature} if signature else {})]})
    blocks = [thought.block for thought in assembler.message().thinking]
    assert blocks == [
        {"type": "thinking", "thinking": "Let me ", "signature": "sig1"},
        {"type": "thinking", "thinking": "More", "signature": "sig2"},
    ]


def test_calls_make_a_stop_a_call() -> None:
    assembler = Assembler("m", "openai")
    assert assembler.finish("stop") is Finish.STOP
    assembler.add(piece(0, "{}", "1", "T"))
    assert assembler.finish("stop") is Finish.CALLS
    assert assembler.finish("length") is Finish.LENGTH


def test_text_that_cannot_be_encoded_is_mended() -> None:
    assembler = Assembler("m", "openai")
    assembler.add({"text": "a\ud800b\0c"})
    assert assembler.message().text == "a\ufffdbc"
