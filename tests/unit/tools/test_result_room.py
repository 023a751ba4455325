"""Tools fill no more than a result may hold, whatever that is, and tell what they left out."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.messages import text_of
from agent_cli.core.tool import AnyTool, ToolResult
from agent_cli.tools import grep, read
from tests.kit.search import Bench
from tests.kit.shells import Bench as ShellBench
from tests.kit.shells import until

ROOMS = [1_000, 6_000, 200_000]


async def run(bench: Bench, room: int, tool: AnyTool, **arguments: Any) -> ToolResult:
    context = bench.context()
    view = replace(context.session, result_chars=room)
    return await tool.bind(arguments).run(replace(context, session=view))


@pytest.mark.parametrize("room", ROOMS)
async def test_read_pages_by_the_room_there_is(tmp_path: Path, room: int) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.txt": "".join(f"line {n} {'x' * 60}\n" for n in range(1, 1_501))})
    result = await run(bench, room, read.TOOL, file_path="a.txt")
    told, lines = text_of(result.llm_content), result.metadata["lines"]
    assert len(told) <= room
    assert f"line {lines} " in told
    if room < 200_000:
        assert result.summary == f"Read {lines} of 1,500 lines"
        assert f"continue with offset={int(str(lines)) + 1}]" in told
    else:
        assert result.summary == "Read 1,500 lines"


async def test_a_line_longer_than_the_room_is_cut_and_called_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.txt": "x" * 5_000})
    result = await run(bench, 1_000, read.TOOL, file_path="a.txt")
    assert len(text_of(result.llm_content)) <= 1_000
    assert "[cut: this line is 5,000 bytes long]" in text_of(result.llm_content)


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("mode", ["content", "files_with_matches", "count"])
async def test_grep_shows_what_fits_and_counts_the_rest(
    tmp_path: Path, room: int, mode: str
) -> None:
    bench = Bench(tmp_path)
    bench.write({f"file-{n:03}-{'y' * 50}.txt": f"needle {'z' * 80}\n" for n in range(300)})
    result = await run(bench, room, grep.TOOL, pattern="needle", output_mode=mode, head_limit=1_000)
    told = text_of(result.llm_content)
    assert len(told) <= room
    shown = sum(line.startswith("file-") for line in told.splitlines())
    assert 0 < shown <= 300
    what = "matches" if mode == "content" else "files"
    assert (f"[{300 - shown} more {what}: narrow the search.]" in told) == (room < 200_000)


@pytest.mark.parametrize("room", ROOMS)
async def test_bash_and_bash_output_keep_both_ends_within_the_room(
    tmp_path: Path, room: int
) -> None:
    bench = ShellBench(tmp_path)
    bench.view = replace(bench.view, result_chars=room)
    try:
        told = text_of((await bench.bash("seq 1 20000")).llm_content)
        assert told.startswith("1\n2\n")
        assert told.endswith("20000")
        assert len(told) <= room
        assert ("bytes left out" in told) == (room < 200_000)
        await bench.bash("seq 1 20000", run_in_background=True)
        (job,) = bench.jobs
        await until(lambda: not job.command.is_running)
        for pattern in ("0$", None):
            filtered = text_of((await bench.read("bash_1", pattern)).llm_content)
            job.read_to = 0
            assert len(filtered) <= room
            assert "20000\n[bash_1: ended" in filtered
            assert ("left out" in filtered) == (room < 10_000)
    finally:
        await bench.close()
