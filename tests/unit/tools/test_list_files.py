"""ListFiles: one level with everything, or all files below."""

import os
from pathlib import Path

import pytest

from agent_cli.core.display import TableBlock
from agent_cli.core.errors import ToolFailure
from agent_cli.tools import list_files
from agent_cli.tools.list_files import TOOL
from tests.kit.search import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = tmp_path / "project"
    root.mkdir()
    bench = Bench(root)
    bench.write(
        {
            "src/a.py": "12345",
            "src/deep/b.py": "",
            "README.md": "x" * 2000,
            ".env": "",
            ".gitignore": "dist/\n",
            "dist/out.js": "",
            ".git/HEAD": "",
        }
    )
    return bench


async def test_a_listing_shows_everything_with_directories_first(bench: Bench) -> None:
    (bench.root / "link").symlink_to("README.md")
    result = await bench.run(TOOL)
    assert result.llm_content == (
        ".git/  (hidden)\ndist/\nsrc/\n.env  (0 B, hidden)\n.gitignore  (6 B, hidden)\n"
        "README.md  (2.0 kB)\nlink -> README.md\n\n4 files, 3 directories"
    )
    assert result.summary == "Listed 4 files, 3 directories"
    assert isinstance(result.display[0], TableBlock)


async def test_recursive_lists_files_that_git_does_not_ignore(bench: Bench) -> None:
    text = await bench.text(TOOL, recursive=True)
    assert text == (
        ".env  (0 B, hidden)\n.gitignore  (6 B, hidden)\nREADME.md  (2.0 kB)\n"
        "src/a.py  (5 B)\nsrc/deep/b.py  (0 B)\n\n5 files, 2 directories"
    )


async def test_what_is_not_shown_is_counted(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_files, "MAX_SHOWN", 2)
    assert "[4 more are not shown" in await bench.text(TOOL)
    assert "[3 more are not shown" in await bench.text(TOOL, recursive=True)


async def test_a_huge_directory_is_not_read_to_its_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_files, "MAX_COUNTED", 3)
    assert "at least" in await bench.text(TOOL)
    assert "at least" in await bench.text(TOOL, recursive=True)


async def test_an_empty_directory_and_odd_names(bench: Bench) -> None:
    (bench.root / "empty").mkdir()
    assert (await bench.text(TOOL, path="empty")).startswith("The directory is empty.")
    os.mkfifo(bench.root / "empty" / "pi\npe")
    assert '"pi\\npe"  (pipe' in await bench.text(TOOL, path="empty")


async def test_files_and_missing_directories_are_failures(bench: Bench) -> None:
    with pytest.raises(ToolFailure, match="is a file"):
        await bench.run(TOOL, path="README.md")
    with pytest.raises(ToolFailure, match="does not exist"):
        await bench.run(TOOL, path="-la")
