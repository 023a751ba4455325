"""Files found by a few letters."""

import subprocess
import time
from pathlib import Path
from threading import Event

import pytest

from agent_cli.frontends.shared.file_index import FileIndex


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for name in ("app.py", "built.o", "sub dir/x.py", ".github/ci.yml", "bad\x1b[31m.py", "a\nb"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    (tmp_path / ".gitignore").write_text("*.o\n")
    return tmp_path


async def test_what_git_ignores_and_what_cannot_be_typed_is_not_offered(repository: Path) -> None:
    index = FileIndex(repository)
    await index.load()
    assert set(await index.find("")) == {"app.py", ".gitignore", "sub dir/x.py", ".github/ci.yml"}


async def test_a_name_that_begins_with_the_query_comes_first() -> None:
    index = FileIndex(Path())
    index.use(["src/deep/cli_main.py", "docs/main.md", "src/remain.py", "m/a/i/n.py", "zzz"])
    assert await index.find("main") == (
        "docs/main.md",
        "src/remain.py",
        "src/deep/cli_main.py",
        "m/a/i/n.py",
    )


async def test_capital_letters_are_meant_and_others_are_not() -> None:
    index = FileIndex(Path())
    index.use(["README.md", "readme.txt"])
    assert set(await index.find("readme")) == {"README.md", "readme.txt"}
    assert await index.find("READ") == ("README.md",)


async def test_signs_are_no_patterns() -> None:
    index = FileIndex(Path())
    index.use(["a.py", "a+b(c).py", "axpy"])
    assert await index.find("+b(") == ("a+b(c).py",)
    assert await index.find(".*") == ()


async def test_a_hundred_thousand_files_answer_quickly() -> None:
    index = FileIndex(Path())
    index.use([f"src/package_{n % 300}/module_{n}/file_{n}.py" for n in range(100_000)])
    for query in ("", "f", "file_99999", "pkgmod77file", "nothing like it"):
        start = time.process_time()
        await index.find(query)
        assert time.process_time() - start < 1.5, query


async def test_a_new_search_ends_the_one_before() -> None:
    from agent_cli.frontends.shared.file_index import best

    stop = Event()
    stop.set()
    assert best(("a.py\nb.py",), "a", stop) == ()
