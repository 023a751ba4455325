"""Glob: which files a pattern finds."""

import os
from pathlib import Path

import pytest

from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.tools import glob
from agent_cli.tools._glob import matcher, split_base
from agent_cli.tools.glob import TOOL
from tests.kit.search import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = tmp_path / "project"
    root.mkdir()
    bench = Bench(root)
    bench.write(
        {
            "src/a.py": "",
            "src/deep/b.py": "",
            "src/deep/c.ts": "",
            "top.py": "",
            ".hidden.py": "",
            ".github/ci.yml": "",
            "-dash.py": "",
            "!bang.txt": "",
            "app/[id]/page.tsx": "",
            ".gitignore": "dist/\nignored.py\n",
            "ignored.py": "",
            "dist/out.py": "",
            "node_modules/m/x.py": "",
            ".git/x.py": "",
        }
    )
    return bench


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("**/*.py", {"src/a.py", "src/deep/b.py", "top.py", "-dash.py"}),
        ("*.py", {"src/a.py", "src/deep/b.py", "top.py", "-dash.py"}),
        ("src/*.py", {"src/a.py"}),
        ("./src/*.py", {"src/a.py"}),
        ("src/**", {"src/a.py", "src/deep/b.py", "src/deep/c.ts"}),
        ("src/", {"src/a.py", "src/deep/b.py", "src/deep/c.ts"}),
        ("src/**/*.{py,ts}", {"src/a.py", "src/deep/b.py", "src/deep/c.ts"}),
        ("{src,app}/**/[bp]*", {"src/deep/b.py", "app/[id]/page.tsx"}),
        ("src/*/*.py", {"src/deep/b.py"}),
        ("src/a.py", {"src/a.py"}),
        ("b.py", {"src/deep/b.py"}),
        (".hid*", {".hidden.py"}),
        ("**/.github/*.yml", {".github/ci.yml"}),
        (".github/*", {".github/ci.yml"}),
        ("-dash.py", {"-dash.py"}),
        ("-*", {"-dash.py"}),
        ("!bang.txt", {"!bang.txt"}),
        ("!*", {"!bang.txt"}),
        ("app/[id]/*.tsx", {"app/[id]/page.tsx"}),
        ("ignored.py", {"ignored.py"}),
        ("dist/out.py", {"dist/out.py"}),
        ("node_modules/m/*.py", {"node_modules/m/x.py"}),
        ("**/nothing*", set()),
        ("--pre=x", set()),
    ],
)
async def test_a_pattern_finds(bench: Bench, pattern: str, expected: set[str]) -> None:
    result = await bench.run(TOOL, pattern=pattern)
    found = {line for line in str(result.llm_content).split("\n") if not line.startswith("[")}
    assert found == expected or (not expected and result.summary == "No files found")


async def test_patterns_may_be_absolute_or_lead_upwards(bench: Bench) -> None:
    assert await bench.text(TOOL, pattern=f"{bench.root}/src/*.py") == "src/a.py"
    assert await bench.text(TOOL, pattern="../src/*.py", path="app") == "src/a.py"
    assert await bench.text(TOOL, pattern="*.ts", path="src/deep") == "src/deep/c.ts"


def test_what_is_asked_for_permission_is_where_the_search_starts() -> None:
    for pattern, start in (
        ("/etc/*.conf", "/etc"),
        ("../../x/*", "../../x"),
        ("~/.ssh/*", "~/.ssh"),
    ):
        assert TOOL.bind({"pattern": pattern}).targets[0].value == start
    assert TOOL.bind({"pattern": "a/*", "path": "b"}).targets[0].value == "b/a"


async def test_dots_behind_a_wildcard_are_refused(bench: Bench) -> None:
    with pytest.raises(ToolFailure) as caught:
        await bench.run(TOOL, pattern="*/../../*.py")
    assert caught.value.type is FailureType.VALIDATION


async def test_the_newest_come_first_and_the_limit_is_said(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glob, "MAX_SHOWN", 2)
    for age, name in enumerate(("src/deep/b.py", "top.py", "-dash.py", "src/a.py")):
        os.utime(bench.root / name, (1000 - age, 1000 - age))
    text = await bench.text(TOOL, pattern="*.py")
    assert text == ("src/deep/b.py\ntop.py\n[The newest 2 of 4 files: narrow the pattern.]")


async def test_beyond_what_can_be_sorted_names_decide(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glob, "MAX_SORTED", 3)
    monkeypatch.setattr(glob, "MAX_SHOWN", 1)
    assert (await bench.text(TOOL, pattern="*.py")).startswith("-dash.py\n[The first by name")


async def test_names_with_newlines_stay_on_one_line(bench: Bench) -> None:
    bench.write({"x/two\nlines.c": ""})
    assert await bench.text(TOOL, pattern="*.c") == '"x/two\\nlines.c"'


async def test_a_missing_directory_is_said(bench: Bench) -> None:
    with pytest.raises(ToolFailure, match="does not exist"):
        await bench.run(TOOL, pattern="scr/*.py")


@pytest.mark.parametrize("pattern", ["a[", "{a,b" + "}{a,b" * 20 + "}", "[z-a]"])
async def test_broken_and_exploding_patterns_are_refused(bench: Bench, pattern: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        await bench.run(TOOL, pattern=pattern)
    assert caught.value.type is FailureType.VALIDATION


def test_no_pattern_runs_away() -> None:
    name = "a" * 4000
    path = "/".join(["x"] * 100) + "/" + name
    assert not matcher(["**/" + "*a" * 100 + "b"])(path)
    assert not matcher(["**/x/" * 30 + "*y"])(path)


def test_directories_named_plainly_belong_to_the_start() -> None:
    assert split_base(".", "src/**/*.py") == ("src", "**/*.py")
    assert split_base("a", "./b/c.py") == ("a/b", "/c.py")
