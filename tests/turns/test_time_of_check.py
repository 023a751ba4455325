"""What was judged is what is used: a directory that is exchanged for a link meanwhile."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.kit.sessions import SceneMaker, results

ROUNDS = 50
SECRET = "the content of a place outside"
FLIPPER = """
import os, random, sys, time
folder, aside, link = sys.argv[1:]
print("on", flush=True)
parent = os.getppid()
while os.getppid() == parent:
    time.sleep(random.random() / 400)
    os.rename(folder, aside); os.rename(link, folder)
    time.sleep(random.random() / 400)
    os.rename(folder, link); os.rename(aside, folder)
"""


@contextmanager
def flipping(workspace: Path, outside: Path) -> Iterator[None]:
    """While this is open, `sub` is a directory one moment and a link to the outside the next."""
    link = workspace / "link"
    link.symlink_to(outside)
    process = subprocess.Popen(
        [sys.executable, "-c", FLIPPER, workspace / "sub", workspace / "aside", link],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    made = tmp_path / "outside"
    made.mkdir()
    for number in range(ROUNDS):
        (made / f"read-{number}.txt").write_text(f"{SECRET}\nword\n")
    return made


def contents(folder: Path) -> dict[str, str]:
    return {entry.name: entry.read_text() for entry in folder.iterdir()}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


@pytest.mark.parametrize("tool", ["Read", "Write", "Edit", "Replace"])
async def test_nothing_is_read_or_written_through_a_link_that_flips(
    make_session: SceneMaker, outside: Path, tool: str
) -> None:
    (make_session.workspace / "sub").mkdir()
    for number in range(ROUNDS):
        (make_session.workspace / "sub" / f"read-{number}.txt").write_text("harmless\nword\n")
    (make_session.workspace / "other.txt").write_text("other")
    before = contents(outside)
    arguments: dict[str, dict[str, Any]] = {
        "Read": {"file_path": "sub/read-{n}.txt"},
        "Write": {"file_path": "sub/new-{n}.txt", "content": "x"},
        "Edit": {"file_path": "sub/read-{n}.txt", "old_string": "word", "new_string": "done"},
        "Replace": {"pattern": "word", "replacement": "done", "path": "sub/read-{n}.txt"},
    }
    steps = []
    for number in range(ROUNDS):
        given = {key: value.format(n=number) for key, value in arguments[tool].items()}
        if tool == "Edit":
            steps.append(call("Read", file_path=given["file_path"]))
        # Refusals in a row would end the turn.
        steps += [call(tool, **given), call("Read", file_path="other.txt")]
    settings = {"mode": "accept-edits", "limits": {"steps": 4 * ROUNDS}}
    scene = make_session(*steps, {"text": "done"}, settings=settings, attended=False)
    with flipping(scene.workspace, outside):
        events = await scene.play()
    done = [each.result for each in results(events).values()]
    assert len(done) == len(steps)
    assert not [number for number, each in enumerate(done) if SECRET in str(each)]
    assert contents(outside) == before
