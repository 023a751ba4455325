"""Write: whole files, atomically, and never over something unseen."""

import os
import stat
import time
from pathlib import Path

import pytest

from agent_cli.core.display import DiffBlock
from agent_cli.core.errors import ToolFailure
from agent_cli.lib import files
from agent_cli.tools import read
from agent_cli.tools.write import TOOL
from tests.kit.hands import Hands


async def test_a_new_file_is_written_exactly_as_given(hands: Hands) -> None:
    content = "one\r\ntwo\nthree \U0001f389"
    result = await hands.call(TOOL, file_path="deep/down/a.txt", content=content)
    assert (hands.workspace / "deep/down/a.txt").read_bytes() == content.encode()
    assert result.summary == "Created 3 lines, 19 bytes"
    assert result.llm_content == "Created deep/down/a.txt (3 lines, 19 bytes)."
    assert result.metadata["created"] is True
    (block,) = result.display
    assert isinstance(block, DiffBlock)
    assert (block.added, block.removed) == (3, 0)
    assert block.diff.startswith("--- /dev/null\n")


async def test_overwriting_shows_what_changes(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_text("one\ntwo\n")
    await hands.call(read.TOOL, file_path="a.txt")
    result = await hands.call(TOOL, file_path="a.txt", content="one\n2\n")
    assert result.summary == "Overwrote 2 lines, 6 bytes"
    (block,) = result.display
    assert isinstance(block, DiffBlock)
    assert block.diff.endswith("@@ -1,2 +1,2 @@\n one\n-two\n+2")


async def test_an_unread_file_is_not_overwritten(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_text("precious")
    told = await hands.told(TOOL, file_path="a.txt", content="x")
    assert "has not been read in this session" in told
    assert (hands.workspace / "a.txt").read_text() == "precious"


async def test_a_file_that_changed_since_is_not_overwritten(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_text("one")
    await hands.call(read.TOOL, file_path="a.txt")
    (hands.workspace / "a.txt").write_text("two")
    told = await hands.told(TOOL, file_path="a.txt", content="x")
    assert "changed since it was read (read 2" in told
    assert ", last changed 2" in told
    assert (hands.workspace / "a.txt").read_text() == "two"


async def test_an_empty_file_may_be_filled_unread(hands: Hands) -> None:
    (hands.workspace / "a.txt").touch()
    assert (await hands.call(TOOL, file_path="a.txt", content="x")).success


async def test_what_was_written_may_be_written_again(hands: Hands) -> None:
    for content in ("one", "two", "three"):
        assert (await hands.call(TOOL, file_path="a.txt", content=content)).success
    assert (hands.workspace / "a.txt").read_text() == "three"


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n"),
        (b"a\r\nb\r\n", "x\r\ny\n", b"x\r\ny\n"),
        (b"a\r\nb\n", "x\ny\n", b"x\ny\n"),
        (b"a\nb\n", "x\r\n", b"x\r\n"),
        (b"\xef\xbb\xbfa\n", "x\n", b"\xef\xbb\xbfx\n"),
        (b"\xef\xbb\xbfa\n", "\ufeffx\n", b"\xef\xbb\xbfx\n"),
        ("hé\n".encode("utf-16"), "ü\n", "ü\n".encode("utf-16")),
        (b"caf\xe9\n", "th\u00e9\n", b"th\xe9\n"),
        (b"caf\xe9\n", "→\n", "→\n".encode()),
        (b"\0\x01\x02\xff", "text\n", b"text\n"),
    ],
)
async def test_an_existing_file_keeps_its_form(
    hands: Hands, before: bytes, content: str, after: bytes
) -> None:
    path = hands.workspace / "a.txt"
    path.write_bytes(b"x")
    await hands.call(read.TOOL, file_path="a.txt")
    path.write_bytes(before)
    # Binary content cannot be read; that it was seen is what matters here.
    seen = files.read_identity(path)
    hands.memory.remember(str(path), seen, before)
    result = await hands.call(TOOL, file_path="a.txt", content=content)
    assert result.success, result.llm_content
    assert path.read_bytes() == after


async def test_a_lost_encoding_is_told(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_bytes(b"caf\xe9\n")
    await hands.call(read.TOOL, file_path="a.txt")
    told = await hands.told(TOOL, file_path="a.txt", content="→\n")
    assert "written as UTF-8, since Latin-1 cannot hold '→' (U+2192)" in told


async def test_the_mode_is_kept(hands: Hands) -> None:
    path = hands.workspace / "run.sh"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    await hands.call(read.TOOL, file_path="run.sh")
    assert (await hands.call(TOOL, file_path="run.sh", content="#!/bin/sh\necho\n")).success
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


async def test_a_link_is_followed_kept_and_named(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_text("x")
    (hands.workspace / "l").symlink_to("a.txt")
    await hands.call(read.TOOL, file_path="l")
    told = await hands.told(TOOL, file_path="l", content="y")
    assert f"(→ {hands.workspace}/a.txt)" in told
    assert (hands.workspace / "l").is_symlink()
    assert (hands.workspace / "a.txt").read_text() == "y"


async def test_other_names_of_a_file_are_named(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_text("x")
    (hands.workspace / "b.txt").hardlink_to(hands.workspace / "a.txt")
    await hands.call(read.TOOL, file_path="a.txt")
    told = await hands.told(TOOL, file_path="a.txt", content="y")
    assert "had 2 names; the others keep the old content" in told


async def test_what_cannot_be_written_is_refused(hands: Hands) -> None:
    os.mkfifo(hands.workspace / "pipe")
    (hands.workspace / "d").mkdir()
    (hands.workspace / "a.txt").write_text("x")
    (hands.workspace / "locked").write_text("x")
    (hands.workspace / "locked").chmod(0o444)
    await hands.call(read.TOOL, file_path="locked")
    assert "a named pipe" in await hands.told(TOOL, file_path="pipe", content="")
    assert "a directory" in await hands.told(TOOL, file_path="d", content="")
    assert "is a file" in await hands.told(TOOL, file_path="a.txt/b", content="")
    told = await hands.told(TOOL, file_path="locked", content="y")
    assert "write-protected (mode 0444)" in told
    assert (hands.workspace / "locked").read_text() == "x"


async def test_a_full_disk_leaves_the_old_content(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    (hands.workspace / "a.txt").write_text("old")
    await hands.call(read.TOOL, file_path="a.txt")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    told = await hands.told(TOOL, file_path="a.txt", content="new")
    assert "the disk is full" in told
    assert [path.name for path in hands.workspace.iterdir()] == ["a.txt"]
    assert (hands.workspace / "a.txt").read_text() == "old"


async def test_a_directory_exchanged_while_the_person_decides_is_noticed(
    hands: Hands, tmp_path: Path
) -> None:
    outside = tmp_path / "out"
    outside.mkdir()
    (hands.workspace / "d").mkdir()
    await hands.preview(TOOL, file_path="d/f", content="x")
    (hands.workspace / "d").rmdir()
    (hands.workspace / "d").symlink_to(outside)
    told = await hands.told(TOOL, file_path="d/f", content="x")
    assert "was not written: it now leads to" in told
    assert list(outside.iterdir()) == []


async def test_the_preview_fails_before_anybody_is_asked(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_text("x")
    with pytest.raises(ToolFailure, match="has not been read"):
        await hands.preview(TOOL, file_path="a.txt", content="y")


async def test_five_megabytes_do_not_take_long(hands: Hands) -> None:
    before = "".join(f"line {n} of the old text\n" for n in range(200_000))
    after = "".join(f"line {n} of a new text\n" for n in range(200_000))
    start = time.monotonic()
    await hands.call(TOOL, file_path="a.txt", content=before)
    result = await hands.call(TOOL, file_path="a.txt", content=after)
    assert time.monotonic() - start < 10
    (block,) = result.display
    assert isinstance(block, DiffBlock)
    assert (block.added, block.removed) == (200_000, 200_000)
    assert len(block.diff) < 500_000
    assert "200,000 lines added and 200,000 removed in total; the rest is not shown" in block.diff


@pytest.mark.parametrize("content", ["a\0b", "\ud800"])
async def test_what_is_not_text_is_refused(hands: Hands, content: str) -> None:
    assert not (await hands.call(TOOL, file_path="a.txt", content=content)).success
    assert list(hands.workspace.iterdir()) == []
