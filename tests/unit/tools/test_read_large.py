"""Large files are read by range, in little memory."""

import subprocess
import sys
from pathlib import Path

import pytest

from agent_cli.tools.read import TOOL
from tests.kit.hands import Hands

MEASURED = """
import asyncio, resource, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from agent_cli.tools.read import TOOL
from tests.kit.hands import Hands

hands = Hands(Path({workspace!r}))
small = asyncio.run(hands.call(TOOL, file_path="small"))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = asyncio.run(hands.call(TOOL, file_path="big", offset={offset}, limit=100))
assert result.success, result.llm_content
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(after - before)
print(result.llm_content.splitlines()[0].split("\\t")[1])
print(result.summary, result.metadata["has_more"], result.metadata["total_lines"])
"""


@pytest.fixture
def big(hands: Hands) -> Path:
    """A file of 64 MB: two million lines of 32 bytes."""
    path = hands.workspace / "big"
    with path.open("wb") as file:
        for thousand in range(2_000):
            lines = (b"line %026d" % (thousand * 1_000 + n) for n in range(1, 1_001))
            file.write(b"\n".join(lines) + b"\n")
    (hands.workspace / "small").write_text("x\n")
    return path


def test_a_range_far_into_a_large_file_takes_little_memory(hands: Hands, big: Path) -> None:
    script = MEASURED.format(
        workspace=str(hands.workspace), offset=1_900_000, tests=str(Path(__file__).parents[3])
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stderr
    grown, first, summary = run.stdout.splitlines()
    assert int(grown) < 30_000  # kilobytes
    assert first == f"line {1_900_000:026d}"
    assert summary == "Read 100 lines True None"


async def test_a_large_file_is_not_read_from_end_to_end(hands: Hands, big: Path) -> None:
    told = await hands.told(TOOL, file_path="big")
    assert told == (
        "big is 64 MB, too large to read whole. Set offset and limit, or search it with Grep."
    )


async def test_lines_that_cross_blocks_are_whole(hands: Hands, big: Path) -> None:
    lines_in_a_block = 1_048_576 // 32
    text = await hands.told(TOOL, file_path="big", offset=lines_in_a_block - 2, limit=5)
    expected = [f"{n:>6}\tline {n:026d}" for n in range(lines_in_a_block - 2, lines_in_a_block + 3)]
    assert text.split("\n")[:5] == expected


async def test_the_last_lines_are_found(hands: Hands, big: Path) -> None:
    result = await hands.call(TOOL, file_path="big", offset=1_999_999, limit=100)
    assert result.metadata["lines"] == 2
    assert result.metadata["total_lines"] == 2_000_000
    told = await hands.told(TOOL, file_path="big", offset=2_000_001, limit=1)
    assert "has 2,000,000 lines" in told


async def test_a_wide_encoding_is_read_in_pieces_too(hands: Hands) -> None:
    text = "".join(f"Zeile {n} – ü\r\n" for n in range(1, 400_001))
    (hands.workspace / "wide").write_bytes(text.encode("utf-16"))
    result = await hands.call(TOOL, file_path="wide", offset=399_999)
    assert str(result.llm_content).startswith(
        "399999\tZeile 399999 – ü\n400000\tZeile 400000 – ü\n"
    )
    assert result.metadata["total_lines"] == 400_000
    assert "UTF-16 LE with BOM" in str(result.llm_content)


async def test_one_endless_line_takes_little_memory(hands: Hands) -> None:
    with (hands.workspace / "endless").open("wb") as file:
        file.write(b"a" * 100_000)
        file.seek(0)
        for _ in range(60):
            file.write(b"a" * 1_000_000)
    result = await hands.call(TOOL, file_path="endless", limit=1)
    assert "[cut: this line is 60,000,000 bytes long]" in str(result.llm_content)
    assert len(str(result.llm_content)) < 3_000
