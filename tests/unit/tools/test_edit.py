"""Edit: exactly the matched bytes change, and a miss says what differs."""

import itertools
import os
import re
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_cli.core.display import DiffBlock
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.tools import read, write
from agent_cli.tools._matching import Passages, replace_matches
from agent_cli.tools.edit import TOOL
from tests.kit.hands import Hands


async def edited(hands: Hands, data: bytes, **arguments: Any) -> bytes:
    """What an edit makes of a file's bytes."""
    path = hands.workspace / "f.txt"
    path.write_bytes(data)
    await hands.call(read.TOOL, file_path="f.txt")
    result = await hands.call(TOOL, file_path="f.txt", **arguments)
    assert result.success, result.llm_content
    return path.read_bytes()


async def refused(hands: Hands, data: bytes, **arguments: Any) -> str:
    """What the model is told when an edit fails; the file must stay as it is."""
    path = hands.workspace / "f.txt"
    path.write_bytes(data)
    await hands.call(read.TOOL, file_path="f.txt")
    result = await hands.call(TOOL, file_path="f.txt", **arguments)
    assert not result.success
    assert path.read_bytes() == data
    return str(result.llm_content)


async def test_an_edit_says_where_and_how_much(hands: Hands) -> None:
    (hands.workspace / "a.py").write_text("one\ntwo\nthree\n")
    await hands.call(read.TOOL, file_path="a.py")
    result = await hands.call(TOOL, file_path="a.py", old_string="two", new_string="2\n2b")
    assert result.summary == "Made 1 replacement, +2 −1 lines"
    assert "Edited a.py at line 2" in str(result.llm_content)
    (block,) = result.display
    assert isinstance(block, DiffBlock)
    assert block.diff.endswith("@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2b\n three")
    assert (block.added, block.removed) == (2, 1)


@pytest.mark.parametrize(
    ("data", "old", "new", "after"),
    [
        (b"one\r\ntwo\r\n", "one\n", "one\nnew\n", b"one\r\nnew\r\ntwo\r\n"),
        (b"one\r\ntwo\r\n", "two", "2\n3", b"one\r\n2\r\n3\r\n"),
        (b"one\ntwo\n", "one\r\ntwo", "1\r\n2", b"1\n2\n"),
        (b"a\nb", "a", "A", b"A\nb"),
        (b"a\nb", "b", "b\n", b"a\nb\n"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        (b"caf\xe9\nhello\n", "hello", "caf\u00e9", b"caf\xe9\ncaf\xe9\n"),
        (b"a\xff\xfe\xfa\nhello\n" + "üöäß".encode(), "hello", "bye",
         b"a\xff\xfe\xfa\nbye\n" + "üöäß".encode()),
        ("hé\r\nb\r\n".encode("utf-16"), "b", "c\nd", "hé\r\nc\r\nd\r\n".encode("utf-16")),
        ("这是中文文件".encode("gb18030"), "中文", "英文", "这是英文文件".encode("gb18030")),
        (b"a\r\nb\nc\r\n", "a\nb\nc\n", "a\nX\nc\n", b"a\r\nX\nc\r\n"),
        (b"a\nb\r\nc\n", "b\n", "b\nnew\n", b"a\nb\r\nnew\r\nc\n"),
        (b"x = 1\n", " = 1", "", b"x\n"),
    ],
)  # fmt: skip
async def test_bytes_around_an_edit_and_its_line_breaks_are_kept(
    hands: Hands, data: bytes, old: str, new: str, after: bytes
) -> None:
    assert await edited(hands, data, old_string=old, new_string=new) == after


async def test_a_list_of_edits_is_made_in_order(hands: Hands) -> None:
    edits = [
        {"old_string": "a", "new_string": "bb"},
        {"oldText": "b", "newText": "c", "replaceAll": True},
    ]
    assert await edited(hands, b"a b\n", edits=edits) == b"cc c\n"


async def test_edits_given_as_text_are_read(hands: Hands) -> None:
    edits = '[{"old_string": "a", "new_string": "b"}]'
    assert await edited(hands, b"a\n", edits=edits) == b"b\n"


async def test_either_all_edits_are_made_or_none(hands: Hands) -> None:
    edits = [
        {"old_string": "a", "new_string": "b"},
        {"old_string": "nowhere", "new_string": "c"},
    ]
    told = await refused(hands, b"a\n", edits=edits)
    assert "Edit 2 of 2" in told
    assert "None of the edits were made." in told


async def test_a_passage_that_is_not_unique_is_answered_with_its_lines(hands: Hands) -> None:
    told = await refused(hands, b"x\ny\nx\n", old_string="x", new_string="z")
    assert "(lines 1, 3)." in told
    assert "replace_all" in told


async def test_matches_that_overlap_are_not_unique(hands: Hands) -> None:
    assert "matches 2 places" in await refused(hands, b"aaa\n", old_string="aa", new_string="b")


async def test_all_places_are_replaced_when_asked(hands: Hands) -> None:
    after = await edited(hands, b"x\r\nx\nx", old_string="x", new_string="y", replace_all=True)
    assert after == b"y\r\ny\ny"


@pytest.mark.parametrize(
    ("data", "old", "said"),
    [
        ("def f():\n\treturn 1\n", "def f():\n    return 1",
         "line 2 starts with 1 tab in the file, but with 4 spaces in old_string"),
        ("a  \nb\n", "a\nb", "line 1 ends with 2 spaces in the file, but with nothing in old_string"),
        ("x =  1\n", "x = 1", "Only whitespace differs"),
        ("a = 'it’s'\n", "a = 'it's'", "the file has U+2019 (right single quotation mark)"),
        ("price\u00a05\n", "price 5", "Only whitespace differs"),
        ("zero\u200bwidth\n", "zerowidth", "the file has U+200B"),
        ("Hello World\n", "hello world", "letter case"),
        ("a\nb\n", "a\\nb", "escaped once too often"),
        ('say("hi")\n', 'say(\\"hi\\")', "escaped once too often"),
        ("if a < b:\n", "if a &lt; b:", "HTML-escaped"),
        ("one\ntwo\n", "     1\tone\n     2\ttwo", "line numbers"),
        ("x = compute(1)\n", "\n\nx = compute(1)\n", "leading or trailing"),
        ("key = 'k'\n", "key = «secret:KEY»", "hidden from you"),
        ("alpha beta gamma\ndelta\n", "alpha beta delta", "The closest match is at line 1:"),
        ("one\ntwo\nthree\nfour\n", "two\nthee\nfour", "The closest match is at lines 2-4:"),
        ("one\n", "§§§§", "Nothing in the file is similar"),
    ],
)  # fmt: skip
async def test_a_miss_says_precisely_what_differs(
    hands: Hands, data: str, old: str, said: str
) -> None:
    assert said in await refused(hands, data.encode(), old_string=old, new_string="new")


async def test_a_miss_shows_the_closest_passage_as_a_small_diff(hands: Hands) -> None:
    told = await refused(
        hands, b"one\ntwo\nthree\nfour\n", old_string="two\nthee\nfour", new_string="x"
    )
    assert told.endswith(
        "--- old_string\n+++ the file, from line 2\n@@ -1,3 +1,3 @@\n two\n-thee\n+three\n four"
    )


async def test_a_miss_in_a_large_file_is_explained_in_time(hands: Hands) -> None:
    data = b"".join(b"value_%d = compute(%d, other_%d)\n" % (n, n, n) for n in range(200_000))
    start = time.monotonic()
    old = "value_150000 = compute(150000, something_else)\n" * 3
    told = await refused(hands, data[:9_900_000], old_string=old, new_string="x")
    assert time.monotonic() - start < 8
    assert "not found in f.txt" in told


async def test_one_long_line_is_no_trouble(hands: Hands) -> None:
    data = b"x" * 5_000_000 + b"needle" + b"y" * 4_000_000
    told = await refused(hands, data, old_string="neeedle", new_string="b")
    assert len(told) < 5_000
    assert b"pin" in await edited(hands, data, old_string="needle", new_string="pin")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"old_string": "a", "new_string": "a"}, "identical"),
        ({"old_string": "", "new_string": "a"}, "old_string is empty"),
        ({"old_string": "a"}, "give old_string and new_string"),
        ({}, "give old_string and new_string"),
        ({"edits": []}, "give old_string and new_string"),
        ({"old_string": "a", "new_string": "b", "edits": [{"old_string": "c", "new_string": "d"}]},
         "not both"),
        ({"edits": [{"old_string": "c", "new_string": "c"}]}, "identical"),
        ({"edits": [{"old_string": "", "new_string": "c"}]}, "at least 1"),
        ({"edits": [{"old_string": "a\0", "new_string": "c"}]}, "NUL"),
        ({"edits": "no list"}, "must be a list"),
        ({"old_string": "\ud800", "new_string": "c"}, "surrogate"),
        ({"old_string": "a", "new_string": "b\0"}, "NUL"),
    ],
)  # fmt: skip
async def test_senseless_arguments_are_refused(
    hands: Hands, arguments: dict[str, Any], said: str
) -> None:
    (hands.workspace / "f.txt").write_text("a\n")
    result = await hands.call(TOOL, file_path="f.txt", **arguments)
    assert result.error is not None
    assert result.error.type is FailureType.VALIDATION
    assert said in result.error.message


async def test_a_megabyte_to_look_for_is_no_trouble(hands: Hands) -> None:
    told = await refused(hands, b"a\n", old_string="x" * 1_000_000, new_string="y")
    assert "very long" in told
    data = b"ab\n" * 300_000
    assert await edited(hands, data, old_string=data.decode(), new_string="c") == b"c"


async def test_an_unread_file_is_not_edited(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_text("a")
    told = await hands.told(TOOL, file_path="a.txt", old_string="a", new_string="b")
    assert "has not been read in this session" in told
    assert (hands.workspace / "a.txt").read_text() == "a"


async def test_a_file_that_changed_is_not_edited_and_both_times_are_named(hands: Hands) -> None:
    path = hands.workspace / "a.txt"
    path.write_text("a")
    await hands.call(read.TOOL, file_path="a.txt")
    path.write_text("b")
    os.utime(path, (1_000_000_000, 1_000_000_000.5))
    told = await hands.told(TOOL, file_path="a.txt", old_string="b", new_string="c")
    times = [word for word in told.split() if word.count(":") == 2]
    assert len(times) == 2
    assert "2001-09-0" in told
    assert path.read_text() == "b"


async def test_a_file_that_was_only_touched_counts_as_unchanged(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_text("a")
    await hands.call(read.TOOL, file_path="a.txt")
    os.utime(hands.workspace / "a.txt", (1, 1))
    assert (await hands.call(TOOL, file_path="a.txt", old_string="a", new_string="b")).success


async def test_a_change_of_the_same_size_and_time_is_seen(hands: Hands) -> None:
    path = hands.workspace / "a.txt"
    path.write_text("aa")
    os.utime(path, (1, 1))
    await hands.call(read.TOOL, file_path="a.txt")
    with path.open("r+") as file:
        file.write("ab")
    os.utime(path, (1, 1))
    told = await hands.told(TOOL, file_path="a.txt", old_string="ab", new_string="c")
    assert "changed since it was read" in told


async def test_edits_and_writes_are_known_to_the_next_edit(hands: Hands) -> None:
    assert (await hands.call(write.TOOL, file_path="n/a.txt", content="a\n")).success
    for old, new in itertools.pairwise("abcd"):
        result = await hands.call(TOOL, file_path="n/a.txt", old_string=old, new_string=new)
        assert result.success, result.llm_content
    assert (hands.workspace / "n/a.txt").read_text() == "d\n"


async def test_what_is_no_editable_file_is_refused(hands: Hands) -> None:
    os.mkfifo(hands.workspace / "pipe")
    (hands.workspace / "d").mkdir()
    (hands.workspace / "b").write_bytes(b"\0\x01hello\0\xff")
    with (hands.workspace / "big").open("wb") as file:
        file.truncate(10_000_001)

    async def told(path: str) -> str:
        await hands.call(read.TOOL, file_path=path)
        return await hands.told(TOOL, file_path=path, old_string="hello", new_string="x")

    assert "a named pipe" in await told("pipe")
    assert "a directory" in await told("d")
    assert "a character device" in await told("/dev/null")
    assert "10 MB; files over 10 MB" in await told("big")
    assert "does not exist" in await told("missing")
    assert "has not been read" in await told("b")


async def test_characters_the_encoding_lacks_are_refused(hands: Hands) -> None:
    told = await refused(hands, b"caf\xe9 one\n", old_string="one", new_string="→")
    assert "Latin-1, which cannot represent '→' (U+2192)" in told


async def test_the_preview_is_the_change_and_fails_like_it(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_text("a\n")
    await hands.call(read.TOOL, file_path="a.txt")
    block = await hands.preview(TOOL, file_path="a.txt", old_string="a", new_string="b")
    assert isinstance(block, DiffBlock)
    assert block.diff.endswith("-a\n+b")
    assert (hands.workspace / "a.txt").read_text() == "a\n"
    with pytest.raises(ToolFailure, match="was not found"):
        await hands.preview(TOOL, file_path="a.txt", old_string="zzz", new_string="b")


async def test_a_file_that_changes_while_the_person_decides_is_not_edited(hands: Hands) -> None:
    path = hands.workspace / "a.txt"
    path.write_text("a\n")
    await hands.call(read.TOOL, file_path="a.txt")
    await hands.preview(TOOL, file_path="a.txt", old_string="a", new_string="b")
    path.write_text("a\nmore\n")
    told = await hands.told(TOOL, file_path="a.txt", old_string="a", new_string="b")
    assert "it has changed on disk since (the user was asked before that)" in told
    assert path.read_text() == "a\nmore\n"


PIECE = st.text(st.sampled_from("ab \t\u00e9中🎉\r\n"), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(PIECE, PIECE.filter(bool), PIECE, PIECE, st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
async def test_an_edit_changes_exactly_the_matched_bytes(
    hands: Hands, before: str, old: str, after: str, new: str, codec: str
) -> None:
    text = before + old + after
    data = text.encode(codec)
    body = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le"}.get(codec, codec)
    bom = data[: len(data) - len(text.encode(body))]
    path = hands.workspace / "f"
    path.write_bytes(data)
    await hands.call(read.TOOL, file_path="f")
    result = await hands.call(TOOL, file_path="f", old_string=old, new_string=new)
    if not result.success:
        assert path.read_bytes() == data
        return
    written = path.read_bytes()
    # The one match is where it was put, or differs from there by half a line break.
    (match,) = Passages(text).find(old)
    head, tail = text[: match.start].encode(body), text[match.end :].encode(body)
    assert written.startswith(bom + head)
    assert written.endswith(tail)
    middle = written[len(bom + head) : len(written) - len(tail)].decode(body)
    assert re.sub("\r*\n", "\n", middle) == re.sub("\r*\n", "\n", new)


@given(st.text(st.sampled_from("ab\r\n"), max_size=30), st.text(st.sampled_from("ab\n"), min_size=1,
                                                               max_size=4))  # fmt: skip
def test_passages_are_found_as_in_the_text_without_carriage_returns(text: str, old: str) -> None:
    found = list(Passages(text).find(old))
    assert len(found) == text.replace("\r\n", "\n").count(old)
    for match in found:
        assert text[match.start : match.end].replace("\r\n", "\n") == old
    replaced = replace_matches(text, found, "Z")
    assert replaced.replace("\r\n", "\n") == text.replace("\r\n", "\n").replace(old, "Z")


async def test_a_missing_file_comes_with_names_like_it(hands: Hands) -> None:
    (hands.workspace / "settings.py").write_text("a\n")
    told = await hands.told(TOOL, file_path="setings.py", old_string="a", new_string="b")
    assert told == (
        "setings.py does not exist. Did you mean settings.py? To create a file, use Write."
    )
