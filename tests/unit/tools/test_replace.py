"""Replace: what it shows, what it writes, and that it writes all files or none."""

import errno
import stat
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.display import DiffBlock
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.tool import ToolKind
from agent_cli.lib.files import read_identity
from agent_cli.tools import _batch
from agent_cli.tools._files import FileMemory, resolve
from agent_cli.tools._replacing import FileChange
from agent_cli.tools.replace import TOOL
from tests.kit.search import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = tmp_path / "project"
    root.mkdir()
    return Bench(root)


async def test_a_preview_shows_each_line_before_and_after_and_changes_nothing(bench: Bench) -> None:
    bench.write({"a.py": "one\nfoo(1)\n", "b/c.py": "foo(2) foo(3)\n", "d.py": "bar\n"})
    result = await bench.run(TOOL, pattern=r"foo\((\d)\)", replacement="baz[$1]")
    assert result.llm_content == (
        "Preview: 3 matches in 2 files. Nothing was changed; to apply it, set preview to false.\n\n"
        "a.py (1)\n2- foo(1)\n2+ baz[1]\nb/c.py (2)\n1- foo(2) foo(3)\n1+ baz[2] baz[3]"
    )
    assert result.summary == "Would replace 3 matches in 2 files"
    block = result.display[0]
    assert isinstance(block, DiffBlock)
    assert block.diff == "--- a.py\n+++ a.py\n@@ -2,1 +2,1 @@\n-foo(1)\n+baz[1]"
    assert (bench.root / "a.py").read_text() == "one\nfoo(1)\n"


@pytest.mark.parametrize(
    ("before", "pattern", "replacement", "after"),
    [
        (b"foo\r\nbar\r\n", "foo.*", "x", b"x\r\nbar\r\n"),
        (b"foo\r\nbar\r\n", "foo$", "x\ny", b"x\r\ny\r\nbar\r\n"),
        (b"\xef\xbb\xbffoo\nbar", "^foo", "x", b"\xef\xbb\xbfx\nbar"),
        ("foo é\r\n".encode("utf-16"), "é", "ü", "foo ü\r\n".encode("utf-16")),
        ("foo é\n".encode("utf-16-be"), "zzz", "x", "foo é\n".encode("utf-16-be")),
        (b"caf\xe9 foo\n", "foo", "bar", b"caf\xe9 bar\n"),
        (b"a foo b", "foo", "$$1", b"a $1 b"),
        (b"a foo b", "(?P<word>foo)", "${word}${word}", b"a foofoo b"),
        (b"a foo b", "foo ?", "", b"a b"),
        (b"foo\n", "$", ";", b"foo;\n"),
        (b"-foo\n", "-foo", "--pre=x", b"--pre=x\n"),
        (b"a\nb\n", "x*", "-", b"-a-\n-b-\n"),
        (b"\nfoo\n\n\n", "foo", "bar", b"\nbar\n\n\n"),
    ],
)
async def test_bytes_beside_the_matches_stay(
    bench: Bench, before: bytes, pattern: str, replacement: str, after: bytes
) -> None:
    bench.write({"f.txt": before})
    await bench.run(TOOL, pattern=pattern, replacement=replacement, preview=False)
    assert (bench.root / "f.txt").read_bytes() == after


async def test_multiline_replaces_across_lines(bench: Bench) -> None:
    bench.write({"f.txt": "a {\n  b\n}\nc {\n  d\n}\n"})
    await bench.run(
        TOOL, pattern=r"\{\n\s*(\w)\n\}", replacement="($1)", multiline=True, preview=False
    )
    assert (bench.root / "f.txt").read_text() == "a (b)\nc (d)\n"


async def test_glob_and_exclude_choose_the_files(bench: Bench) -> None:
    bench.write({"a.py": "foo", "b.ts": "foo", "old/c.py": "foo", ".hidden.py": "foo"})
    text = await bench.text(
        TOOL, pattern="foo", replacement="x", glob="*.{py,ts}", exclude="old/**, .*"
    )
    assert "a.py" in text
    assert "b.ts" in text
    assert "c.py" not in text
    assert "hidden" not in text


async def test_ignored_secret_and_binary_files_are_left_out(bench: Bench) -> None:
    bench.write(
        {
            ".gitignore": "out/\n",
            "out/a.txt": "foo",
            "key.pem": "foo",
            "a.bin": b"foo\n\0\0foo\n",
            "b.txt": "foo",
        }
    )
    result = await bench.run(TOOL, pattern="foo", replacement="x", preview=False)
    assert result.summary == "Replaced 1 match in 1 file"
    assert "1 file that may hold secrets was left out" in str(result.llm_content)
    assert (bench.root / "key.pem").read_bytes() == b"foo"
    assert (bench.root / "a.bin").read_bytes() == b"foo\n\0\0foo\n"
    assert (bench.root / "out/a.txt").read_bytes() == b"foo"


async def test_mode_is_kept_and_nothing_is_left_beside(bench: Bench) -> None:
    bench.write({"run.sh": "foo"})
    (bench.root / "run.sh").chmod(0o751)
    await bench.run(TOOL, pattern="foo", replacement="x", preview=False)
    assert stat.S_IMODE((bench.root / "run.sh").stat().st_mode) == 0o751
    assert [path.name for path in bench.root.iterdir()] == ["run.sh"]


@pytest.mark.parametrize("stage", ["_stage", "_rename"])
async def test_if_one_file_cannot_be_written_none_is(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    bench.write(dict.fromkeys(("a.txt", "b.txt", "c.txt"), "foo\r\n"))
    original = getattr(_batch, stage)

    def failing(change: FileChange, *beside: Path) -> Any:
        if change.path.endswith("b.txt"):
            raise OSError(errno.ENOSPC, "No space left on device", change.path)
        return original(change, *beside)

    monkeypatch.setattr(_batch, stage, failing)
    with pytest.raises(ToolFailure, match="Nothing was changed"):
        await bench.run(TOOL, pattern="foo", replacement="x", preview=False)
    assert {path.read_bytes() for path in bench.root.iterdir()} == {b"foo\r\n"}
    assert sorted(path.name for path in bench.root.iterdir()) == ["a.txt", "b.txt", "c.txt"]


async def test_a_file_that_cannot_be_changed_stops_all(bench: Bench) -> None:
    bench.write({"a.txt": "foo", "latin.txt": b"caf\xe9 foo\n"})
    with pytest.raises(ToolFailure, match="mix encodings"):
        await bench.run(TOOL, pattern="foo", replacement="ü", preview=False)
    assert (bench.root / "a.txt").read_text() == "foo"
    assert "mix encodings" in await bench.text(TOOL, pattern="foo", replacement="ü")


async def test_a_file_that_changes_after_the_plan_stops_all(bench: Bench) -> None:
    bench.write({"a.txt": "foo", "b.txt": "foo"})
    invocation, context = (
        TOOL.bind({"pattern": "foo", "replacement": "x", "preview": False}),
        bench.context(),
    )
    assert TOOL.discover is not None
    targets = await TOOL.discover(invocation.params, context)
    assert [(Path(t.value).name, t.access) for t in targets] == [
        ("a.txt", "write"),
        ("b.txt", "write"),
    ]
    bench.write({"b.txt": "foo and more"})
    with pytest.raises(ToolFailure, match="changed on disk"):
        await invocation.run(context)
    assert (bench.root / "a.txt").read_text() == "foo"


async def test_what_the_session_has_read_it_still_knows(bench: Bench) -> None:
    bench.write({"read.txt": "foo", "unread.txt": "foo"})
    memory = bench.state.get(FileMemory)
    path = str(bench.root / "read.txt")
    memory.remember(path, read_identity(path), b"foo")
    await bench.run(TOOL, pattern="foo", replacement="x", preview=False)
    context = bench.context()
    memory.require_current(resolve(context, "read.txt"), read_identity(path), b"x")
    with pytest.raises(ToolFailure, match="has not been read"):
        memory.require_current(resolve(context, "unread.txt"), read_identity(path), b"x")


async def test_nothing_to_do_is_said(bench: Bench) -> None:
    bench.write({"a.txt": "foo"})
    assert await bench.text(TOOL, pattern="zzz", replacement="x") == "No matches."
    assert "changes nothing" in await bench.text(TOOL, pattern="foo", replacement="foo")


async def test_unclear_groups_are_refused_and_backslashes_explained(bench: Bench) -> None:
    bench.write({"a.txt": "foo"})
    with pytest.raises(ToolFailure, match=r"\$\{1\}x") as caught:
        await bench.run(TOOL, pattern="(f)", replacement="$1x")
    assert caught.value.type is FailureType.VALIDATION
    assert "groups are $1" in await bench.text(TOOL, pattern="(f)", replacement=r"\1x")


async def test_a_pattern_made_to_run_away_ends(bench: Bench) -> None:
    bench.write({"a.txt": "a" * 50_000 + "!\n"})
    assert await bench.text(TOOL, pattern="(a+)+$", replacement="x") == "No matches."


async def test_long_lines_and_many_files_are_bounded(bench: Bench) -> None:
    bench.write({"min.js": "x" * 100_000 + "foo" + "y" * 100_000})
    bench.write({f"f{number:03}.txt": "foo\n" * 5 for number in range(200)})
    text = await bench.text(TOOL, pattern="foo", replacement="bar")
    assert len(text) < 20_000
    assert "more files are not shown" in text
    only = await bench.text(TOOL, pattern="foo", replacement="bar", path="min.js")
    assert "xbary" in only


def test_a_preview_is_read_only_and_applying_is_not() -> None:
    preview = TOOL.bind({"pattern": "a", "replacement": "b"})
    assert (preview.kind, preview.targets[0].access) == (ToolKind.READONLY, "read")
    applied = TOOL.bind({"pattern": "a", "replacement": "b", "preview": False})
    assert (applied.kind, applied.targets[0].access) == (ToolKind.WRITE, "write")


async def test_files_to_leave_out_may_come_as_a_list(bench: Bench) -> None:
    bench.write({"a.py": "foo\n", "b.py": "foo\n", "c.py": "foo\n"})
    result = await bench.run(TOOL, pattern="foo", replacement="x", exclude=["a.py", "c.py"])
    assert result.summary == "Would replace 1 match in 1 file"
