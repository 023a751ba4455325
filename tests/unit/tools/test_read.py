"""Read: numbered lines of anything that can be read, and clear words about the rest."""

import base64
import os
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_cli.core.display import ImageBlock, TextBlock
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.messages import ImagePart
from agent_cli.tools.read import TOOL
from tests.kit.hands import Hands
from tests.kit.pictures import PNG


async def test_lines_are_numbered_and_counted(hands: Hands) -> None:
    (hands.workspace / "a.py").write_text("one\ntwo\nthree\n")
    result = await hands.call(TOOL, file_path="a.py")
    assert result.llm_content == "     1\tone\n     2\ttwo\n     3\tthree"
    assert result.summary == "Read 3 lines"
    assert result.display == (TextBlock(text="one\ntwo\nthree", language="python", first_line=1),)
    assert result.metadata["encoding"] == "UTF-8"
    assert result.metadata["total_lines"] == 3
    assert result.metadata["has_more"] is False
    assert result.metadata["size"] == 14


async def test_a_range_says_where_it_stands_and_how_to_go_on(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 3_401)))
    result = await hands.call(TOOL, file_path="a.txt", offset=11, limit=120)
    text = str(result.llm_content)
    assert text.startswith("    11\tline 11\n")
    assert "   130\tline 130\n" in text
    assert text.endswith("[lines 11-130 of 3,400; continue with offset=131]")
    assert result.summary == "Read 120 of 3,400 lines"


async def test_two_thousand_lines_are_read_unless_more_are_asked_for(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_text("x\n" * 2_500)
    result = await hands.call(TOOL, file_path="a.txt")
    assert result.metadata["lines"] == 2_000
    result = await hands.call(TOOL, file_path="a.txt", offset=2_001)
    assert result.metadata["lines"] == 500
    assert "this is the end" in str(result.llm_content)


async def test_an_answer_holds_no_more_than_a_result_may(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_text(f"{'x' * 100}\n" * 2_000)
    result = await hands.call(TOOL, file_path="a.txt")
    assert len(str(result.llm_content)) < 50_000
    last = result.metadata["lines"]
    assert f"[lines 1-{last} of 2,000; continue with offset={int(str(last)) + 1}]" in str(
        result.llm_content
    )


async def test_a_long_line_is_cut_with_a_mark(hands: Hands) -> None:
    (hands.workspace / "min.js").write_text("A" * 2_000_000 + "\nend\n")
    text = await hands.told(TOOL, file_path="min.js")
    assert "A" * 2_000 + "… [cut: this line is 2,000,000 bytes long]\n     2\tend" in text
    assert "A" * 2_001 not in text


@pytest.mark.parametrize(
    ("data", "shown", "noted"),
    [
        (b"\xef\xbb\xbfhi\n", "     1\thi", "UTF-8 with BOM"),
        ("h\u00e9\r\nb\r\n".encode("utf-16"), "     1\th\u00e9\n     2\tb", "UTF-16 LE with BOM"),
        ("中文内容在这里\n".encode("gb18030"), "     1\t中文内容在这里", "GB18030"),
        (b"caf\xe9\n", "     1\tcaf\u00e9", "Latin-1"),
        (b"one\r\ntwo\r\n", "     1\tone\n     2\ttwo", "CRLF line breaks"),
        (b"one\r\ntwo\n", "     1\tone\n     2\ttwo", "mixed line breaks"),
        (b"one\rtwo\r", "     1\tone\n     2\ttwo", "CR line breaks"),
        ("\u00fc\u00f6\u00e4 ".encode() + b"\xff\n", "     1\tüöä \ufffd", "1 byte"),
    ],
)
async def test_the_form_of_a_text_is_named(
    hands: Hands, data: bytes, shown: str, noted: str
) -> None:
    (hands.workspace / "a.txt").write_bytes(data)
    text = await hands.told(TOOL, file_path="a.txt")
    assert text.startswith(shown + "\n[")
    assert noted in text


async def test_an_empty_file_is_called_empty(hands: Hands) -> None:
    (hands.workspace / "e.txt").touch()
    result = await hands.call(TOOL, file_path="e.txt")
    assert result.success
    assert result.llm_content == "[The file is empty.]"


async def test_an_offset_past_the_end_names_the_length(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_text("x\ny")
    assert "past the end: a.txt has 2 lines" in await hands.told(TOOL, file_path="a.txt", offset=3)
    assert "2 lines" in await hands.told(TOOL, file_path="a.txt", offset=10**12)


@pytest.mark.parametrize(
    "arguments",
    [{"offset": 0}, {"offset": -1}, {"limit": 0}, {"limit": -5}, {"offset": 1.5}, {"pages": 3}],
)
async def test_senseless_ranges_are_refused(hands: Hands, arguments: dict[str, object]) -> None:
    (hands.workspace / "a.txt").write_text("x")
    result = await hands.call(TOOL, file_path="a.txt", **arguments)
    assert result.error is not None
    assert result.error.type is FailureType.VALIDATION


@pytest.mark.parametrize("path", ["a\0b", "a\ud800", "", "   ", "x" * 1_000_000, "a/" * 3_000])
async def test_impossible_paths_are_refused(hands: Hands, path: str) -> None:
    result = await hands.call(TOOL, file_path=path)
    assert result.error is not None
    assert result.error.type is FailureType.VALIDATION
    assert len(result.error.message) < 1_000


async def test_a_name_with_a_line_break_is_shown_escaped(hands: Hands) -> None:
    (hands.workspace / "a\nb.txt").write_text("x")
    assert (await hands.call(TOOL, file_path="a\nb.txt")).success
    assert "\n" not in TOOL.bind({"file_path": "a\nb.txt"}).title
    assert "missing\n" not in await hands.told(TOOL, file_path="missing\nx")


async def test_a_missing_file_is_answered_with_close_names(hands: Hands) -> None:
    (hands.workspace / "src").mkdir()
    for name in ("README.md", "config.yaml", "src/engine.py", "e\u0301.txt"):
        (hands.workspace / name).touch()
    assert "Did you mean README.md?" in await hands.told(TOOL, file_path="readme.md")
    assert "config.yaml" in await hands.told(TOOL, file_path="config.yml")
    assert "src/engine.py" in await hands.told(TOOL, file_path="lib/engine.py")
    assert "Did you mean" in await hands.told(TOOL, file_path="\u00e9.txt")
    assert await hands.told(TOOL, file_path="zzz") == "zzz does not exist."


async def test_a_directory_is_answered_with_its_listing(hands: Hands) -> None:
    (hands.workspace / "src" / "inner").mkdir(parents=True)
    (hands.workspace / "src" / "a.py").touch()
    result = await hands.call(TOOL, file_path="src")
    assert not result.success
    assert result.llm_content == "src is a directory, not a file. It contains:\ninner/\na.py"
    assert "It is empty" in await hands.told(TOOL, file_path="src/inner")


async def test_special_files_are_refused_without_waiting(hands: Hands) -> None:
    os.mkfifo(hands.workspace / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(hands.workspace)
        server.bind("s.sock")
        os.chdir(here)
    assert "a named pipe" in await hands.told(TOOL, file_path="pipe")
    assert "a socket" in await hands.told(TOOL, file_path="s.sock")
    assert "a character device" in await hands.told(TOOL, file_path="/dev/zero")


async def test_binary_data_is_named(hands: Hands) -> None:
    (hands.workspace / "p").write_bytes(b"\x7fELF\x02\x01\x01" + b"\0" * 100)
    (hands.workspace / "b").write_bytes(b"\0\x01hello\0\xff")
    assert "an ELF program" in await hands.told(TOOL, file_path="p")
    assert "binary data (9 B)" in await hands.told(TOOL, file_path="b")


async def test_a_picture_goes_to_a_model_that_takes_it(hands: Hands) -> None:
    (hands.workspace / "p.png").write_bytes(PNG)
    result = await Hands(hands.workspace, takes_images=True).call(TOOL, file_path="p.png")
    assert isinstance(result.llm_content, tuple)
    (part,) = (part for part in result.llm_content if isinstance(part, ImagePart))
    assert base64.b64decode(part.data) == PNG
    assert result.summary == "Read a PNG image, 640×480, 33 B"
    (block,) = result.display
    assert isinstance(block, ImageBlock)


async def test_a_picture_is_named_and_measured_for_other_models(hands: Hands) -> None:
    (hands.workspace / "p.png").write_bytes(PNG)
    text = await hands.told(TOOL, file_path="p.png")
    assert text == "p.png: PNG image, 640×480, 33 B. This model does not accept images."


async def test_a_link_is_shown_with_where_it_leads(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_text("x\n")
    (hands.workspace / "l").symlink_to("a.txt")
    assert f"link to {hands.workspace}/a.txt" in await hands.told(TOOL, file_path="l")


async def test_a_cancelled_call_stops_reading(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_text("x\n")
    hands.cancelled.set()
    result = await hands.call(TOOL, file_path="a.txt")
    assert result.error is not None
    assert result.error.type is FailureType.CANCELLED


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    lines=st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])
                           .filter(lambda c: c >= " "), max_size=12), max_size=30),
    line_break=st.sampled_from(["\n", "\r\n"]),
    ends=st.booleans(),
    offset=st.integers(1, 35),
    limit=st.integers(1, 35),
    codec=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)  # fmt: skip
async def test_numbers_and_ranges_agree_with_the_file(
    hands: Hands, lines: list[str], line_break: str, ends: bool, offset: int, limit: int, codec: str
) -> None:
    text = line_break.join(lines) + (line_break if ends and lines else "")
    expected = text.split(line_break)
    if not expected[-1]:
        expected.pop()
    (hands.workspace / "f").write_bytes(text.encode(codec))
    try:
        result = await TOOL.bind({"file_path": "f", "offset": offset, "limit": limit}).run(
            hands.context()
        )
    except ToolFailure as failure:
        assert offset > len(expected) > 0
        assert "past the end" in failure.message
        return
    assert result.metadata["total_lines"] == len(expected)
    if not expected:
        return
    wanted = expected[offset - 1 : offset - 1 + limit]
    (block,) = result.display
    assert isinstance(block, TextBlock)
    assert block.text.split("\n") == wanted
    numbered = [f"{n:>6}\t{line}" for n, line in enumerate(wanted, offset)]
    assert str(result.llm_content).split("\n")[: len(wanted)] == numbered
    assert result.metadata["has_more"] == (offset - 1 + len(wanted) < len(expected))
