"""Grep: what it finds, how it says so, and what it never does."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.display import TableBlock
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.tools import _ripgrep
from agent_cli.tools.grep import TOOL
from tests.kit.search import Bench, rg_processes


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = tmp_path / "project"
    root.mkdir()
    return Bench(root)


async def test_a_single_match_is_one_line_with_path_and_number(bench: Bench) -> None:
    bench.write({"src/app.py": "import os\nneedle = 1\n"})
    result = await bench.run(TOOL, pattern="needle")
    assert result.llm_content == "src/app.py:2: needle = 1"
    assert result.summary == "1 match in 1 file"


async def test_matches_are_grouped_by_file_and_context_is_marked(bench: Bench) -> None:
    bench.write({"a.txt": "one\nneedle\ntwo\nthree\nfour\nfive\nneedle\n", "b.txt": "needle\n"})
    text = await bench.text(TOOL, pattern="needle", **{"-C": 1})
    assert text == "a.txt\n1- one\n2: needle\n3- two\n--\n6- five\n7: needle\n\nb.txt:1: needle"


async def test_the_limit_is_said_with_how_many_more_there_are(bench: Bench) -> None:
    bench.write({"a.txt": "needle\n" * 30})
    result = await bench.run(TOOL, pattern="needle", head_limit=10)
    assert "\n10: needle" in str(result.llm_content)
    assert "11: needle" not in str(result.llm_content)
    assert "[20 more matches" in str(result.llm_content)
    assert result.summary == "30 matches in 1 file"


async def test_a_flood_of_matches_is_stopped(bench: Bench) -> None:
    bench.write({"a.txt": "needle\n" * 300_000})
    result = await bench.run(TOOL, pattern="needle", head_limit=5)
    assert "[at least " in str(result.llm_content)
    assert result.summary.startswith("At least ")
    assert result.metadata["whole"] is False


async def test_files_with_matches_come_newest_first(bench: Bench) -> None:
    bench.write({"old.txt": "needle", "new.txt": "needle", "other.txt": "hay"})
    os.utime(bench.root / "old.txt", (1, 1))
    result = await bench.run(TOOL, pattern="needle", output_mode="files_with_matches")
    assert result.llm_content == "new.txt\nold.txt"
    assert result.summary == "2 files with matches"


async def test_counting_is_a_table(bench: Bench) -> None:
    bench.write({"a.txt": "needle\nneedle\n", "b.txt": "needle\n"})
    result = await bench.run(TOOL, pattern="needle", output_mode="count")
    assert result.llm_content == "a.txt: 2\nb.txt: 1\n3 matches in 2 files"
    assert isinstance(result.display[0], TableBlock)


async def test_glob_type_and_case_narrow_a_search(bench: Bench) -> None:
    bench.write({"a.py": "Needle", "b.ts": "needle", "c.md": "needle"})
    assert await bench.text(TOOL, pattern="needle", glob="*.{ts,py}") == "b.ts:1: needle"
    assert await bench.text(TOOL, pattern="needle", type="py", **{"-i": True}) == "a.py:1: Needle"
    assert await bench.text(TOOL, pattern="needle", glob="!*.md, *.ts") == "b.ts:1: needle"
    assert await bench.text(TOOL, pattern="needle", path="c.md") == "c.md:1: needle"


async def test_multiline_lets_a_match_span_lines(bench: Bench) -> None:
    bench.write({"a.txt": "begin\nmiddle\nend\n"})
    text = await bench.text(TOOL, pattern="begin.*end", multiline=True)
    assert text == "a.txt\n1: begin\n2: middle\n3: end"


async def test_a_match_over_several_lines_counts_once(bench: Bench) -> None:
    bench.write({"a.txt": "begin\nend\nbegin\nx\nend\nbegin end\n"})
    given: dict[str, Any] = {"pattern": "begin.*?end", "multiline": True}
    result = await bench.run(TOOL, **given)
    assert result.summary == "3 matches in 1 file"
    counted = await bench.run(TOOL, output_mode="count", **given)
    assert counted.summary == result.summary
    text = await bench.text(TOOL, head_limit=2, **given)
    assert text.startswith("a.txt\n1: begin\n2: end\n3: begin\n4: x\n5: end\n\n[1 more")


async def test_of_a_long_line_in_a_longer_match_the_right_part_is_shown(bench: Bench) -> None:
    lines = ["begin", "end"] * 5 + ["begin" + "x" * 600, "y" * 600 + "end"]
    bench.write({"a.txt": "\n".join(lines)})
    text = await bench.text(TOOL, pattern="begin.*?end", multiline=True)
    assert f"\n11: begin{'x' * 235}…\n12: {'y' * 240}…" in text


async def test_ignored_files_git_and_node_modules_are_left_out(bench: Bench) -> None:
    bench.write(
        {
            ".gitignore": "build/\n*.log\n",
            "build/x.py": "needle",
            "a.log": "needle",
            ".git/config": "needle",
            "node_modules/m/index.js": "needle",
            ".github/workflows/ci.yml": "needle",
        }
    )
    assert await bench.text(TOOL, pattern="needle") == ".github/workflows/ci.yml:1: needle"
    assert await bench.text(TOOL, pattern="needle", glob="**/*") == (
        ".github/workflows/ci.yml:1: needle"
    )
    assert "index.js" in await bench.text(TOOL, pattern="needle", path="node_modules")


async def test_secret_files_are_not_searched_and_counted(bench: Bench) -> None:
    bench.write(
        {
            ".env": "KEY=needle",
            ".ENV.Local": "KEY=needle",
            "deep/server.pem": "needle",
            "home/.ssh/config": "needle",
            ".env.example": "KEY=needle",
            "sample.env": "KEY=needle",
        }
    )
    for given in ({}, {"glob": "*e*"}, {"glob": ".env*,*.pem,*.env,.ENV*,.ssh,config"}):
        text = await bench.text(TOOL, pattern="needle", **given)
        shown, _, note = text.partition("\n\n")
        assert shown == ".env.example:1: KEY=needle\nsample.env:1: KEY=needle"
        assert "may hold secrets" in note


async def test_whether_a_secret_matches_cannot_be_told(bench: Bench) -> None:
    bench.write({".env": "KEY=abc"})
    right = await bench.text(TOOL, pattern="KEY=a", output_mode="count")
    assert right == await bench.text(TOOL, pattern="KEY=b", output_mode="count")


async def test_nothing_found_in_a_secret_file_gets_out(bench: Bench) -> None:
    bench.write(
        {
            ".env.local": "KEY=needle\n" * 6_000,
            "Server.PEM": "needle\n",
            "id_rsa_work": b"needle\n\0\0",
            "terraform.tfstate.backup": "x" * 2_000 + "needle\n",
            "two\nlines.env": "needle\n",
            "a.txt": "needle\n",
        }
    )
    for mode in ("content", "files_with_matches", "count"):
        result = await bench.run(TOOL, pattern="needle", output_mode=mode, context=1)
        told = str(result.llm_content)
        assert result.metadata == {"matches": 1, "files": 1, "whole": True}
        assert "5 files that may hold secrets were left out." in told
        for name in ("KEY", "PEM", "rsa", "tfstate", "lines", "binary"):
            assert name not in told
    assert "".join(map(str, bench.shown)).count("needle") == 1


async def test_of_a_long_line_the_surroundings_of_the_match_are_shown(bench: Bench) -> None:
    bench.write({"min.js": b"\xef\xbb\xbf" + b"x" * 1_000_000 + b"needle" + b"y" * 1_000_000})
    text = await bench.text(TOOL, pattern="needle")
    assert "xxneedleyy" in text
    assert text.startswith("min.js:1: …x")
    assert text.endswith("y…")
    assert len(text) < 500


async def test_other_encodings_are_found_and_readable(bench: Bench) -> None:
    bench.write(
        {
            "latin.txt": "needle caf\xe9".encode("latin-1"),
            "wide.txt": "needle \u4f60\r\n".encode("utf-16"),
            "crlf.txt": b"a needle\r\n",
        }
    )
    assert await bench.text(TOOL, pattern="needle") == (
        "crlf.txt:1: a needle\nlatin.txt:1: needle caf\ufffd\nwide.txt:1: needle \u4f60"
    )
    assert await bench.text(TOOL, pattern="needle$") == "crlf.txt:1: a needle"


async def test_binary_files_are_named_not_shown(bench: Bench) -> None:
    bench.write({"a.bin": b"needle\n\0\0\n", "b.txt": "needle\n"})
    text = await bench.text(TOOL, pattern="needle")
    assert "b.txt:1: needle" in text
    assert "\0" not in text


async def test_names_with_newlines_and_odd_bytes_stay_on_one_line(bench: Bench) -> None:
    bench.write({"two\nlines.txt": "needle\n"})
    bench.write({os.fsdecode(b"odd\xff.txt"): "needle\n"})
    for mode in ("content", "files_with_matches", "count"):
        text = await bench.text(TOOL, pattern="needle", output_mode=mode)
        assert '"two\\nlines.txt"' in text
        assert '"odd\\xff.txt"' in text


async def test_a_loop_of_links_ends(bench: Bench) -> None:
    bench.write({"a.txt": "needle\n"})
    (bench.root / "loop").symlink_to(bench.root, target_is_directory=True)
    assert await bench.text(TOOL, pattern="needle") == "a.txt:1: needle"


@pytest.mark.parametrize("pattern", ["-foo", "--pre=/bin/false", "--help", "-e", "--", "-f/etc"])
async def test_a_pattern_is_never_an_option(bench: Bench, pattern: str) -> None:
    bench.write({"a.txt": f"x {pattern} y\n"})
    assert await bench.text(TOOL, pattern=pattern) == f"a.txt:1: x {pattern} y"


@pytest.mark.parametrize(
    "given",
    [
        {"glob": "--pre=/bin/false"},
        {"glob": "-foo"},
        {"path": "--pre"},
        {"type": "--pre=x"},
        {"type": "py --hidden"},
        {"path": "a\nb"},
        {"path": "x" * 5000},
    ],
)
async def test_hostile_arguments_find_nothing_or_are_refused(
    bench: Bench, given: dict[str, Any]
) -> None:
    bench.write({"a.txt": "needle\n"})
    try:
        assert await bench.text(TOOL, pattern="needle", **given) == "No matches."
    except ToolFailure as failure:
        assert len(failure.message) < 500


@pytest.mark.parametrize("pattern", ["", "a\0b", "\ud800", "x" * 1_000_000])
def test_patterns_that_cannot_be_sent_are_refused(pattern: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        TOOL.bind({"pattern": pattern})
    assert caught.value.type is FailureType.VALIDATION


async def test_a_long_pattern_is_searched_for(bench: Bench) -> None:
    bench.write({"a.txt": "x" * 4_000})
    assert "a.txt" in await bench.text(TOOL, pattern="x" * 4_000)


@pytest.mark.parametrize(
    ("pattern", "said", "hint"),
    [
        ("interface{", "repetition quantifier", r"\{"),
        ("(", "unclosed group", r"\("),
        ("(?=x)", "look-around", "not available"),
        (r"a\nb", "not allowed", "multiline"),
        (r"(?:\w{1000}){1000}", "size limit", ""),
    ],
)
async def test_a_wrong_pattern_is_explained(
    bench: Bench, pattern: str, said: str, hint: str
) -> None:
    with pytest.raises(ToolFailure) as caught:
        await bench.run(TOOL, pattern=pattern)
    assert caught.value.type is FailureType.VALIDATION
    assert said in caught.value.message
    assert hint in caught.value.details
    assert "(?:" not in caught.value.message


async def test_an_unknown_type_or_a_broken_glob_is_a_validation_failure(bench: Bench) -> None:
    for given in ({"type": "pyton"}, {"glob": "["}):
        with pytest.raises(ToolFailure) as caught:
            await bench.run(TOOL, pattern="x", **given)
        assert caught.value.type is FailureType.VALIDATION


async def test_a_missing_path_names_what_is_near(bench: Bench) -> None:
    bench.write({"source/a.py": "x"})
    with pytest.raises(ToolFailure, match="Did you mean source"):
        await bench.run(TOOL, pattern="x", path="sourc")


async def test_without_ripgrep_the_failure_says_how_to_get_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_ripgrep, "find_program", lambda _name: None)
    with pytest.raises(ToolFailure, match="not installed") as caught:
        await bench.run(TOOL, pattern="x")
    assert "ripgrep" in caught.value.details


async def test_the_first_match_is_shown_at_once_and_the_rest_in_few_pieces(bench: Bench) -> None:
    bench.write({f"{number}.txt": "needle\n" * 10 for number in range(50)})
    await bench.run(TOOL, pattern="needle", head_limit=500)
    assert str(bench.shown[0]).endswith(".txt:1: needle\n")
    assert str(bench.shown[0]).count("\n") == 1
    assert sum(str(piece).count("\n") for piece in bench.shown) == 500
    assert len(bench.shown) < 50


async def test_a_configuration_file_of_ripgrep_is_not_read(bench: Bench) -> None:
    bench.write({"a.txt": "needle\n", "rc": "--files-without-match\n"})
    context = bench.context(RIPGREP_CONFIG_PATH=str(bench.root / "rc"))
    result = await TOOL.bind({"pattern": "needle"}).run(context)
    assert result.llm_content == "a.txt:1: needle"


async def test_a_cancelled_search_leaves_no_process_behind(bench: Bench) -> None:
    bench.write({f"d{number}/big.txt": "needle\n" * 300_000 for number in range(8)})
    context = bench.context()
    found = asyncio.Event()
    search = asyncio.ensure_future(
        TOOL.bind({"pattern": "needle"}).run(replace(context, progress=lambda _shown: found.set()))
    )
    await asyncio.wait_for(found.wait(), 20)
    assert rg_processes(str(bench.root)) or search.done()
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    assert rg_processes(str(bench.root)) == []


async def test_globs_may_come_as_a_list_and_line_numbers_need_no_asking(bench: Bench) -> None:
    bench.write({"a.py": "needle\n", "b.ts": "needle\n", "c.md": "needle\n"})
    text = await bench.text(TOOL, pattern="needle", glob=["*.py", "*.ts"], **{"-n": True})
    assert text == "a.py:1: needle\nb.ts:1: needle"


def test_the_title_is_one_line() -> None:
    assert TOOL.bind({"pattern": "a\nb"}).title == r"a\nb in ."
