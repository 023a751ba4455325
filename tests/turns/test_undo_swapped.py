"""Undo and redo after a preview: a directory that is a link by now leads nowhere."""

from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.session import Session
from tests.kit.sessions import SceneMaker

YOLO = {"mode": "yolo"}
LARGE = "dd if=/dev/zero of={0} bs=1M count=101 status=none"


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"name": "Bash", "arguments": {"command": command}}]}


def state(folder: Path) -> dict[str, tuple[int, int, int]]:
    found = [folder, *folder.rglob("*")]
    return {
        str(path): (path.lstat().st_mode, path.lstat().st_size, path.lstat().st_mtime_ns)
        for path in found
    }


async def previewed(session: Session, kind: str) -> Any:
    undoing = session.undoing
    return await (undoing.preview_redo() if kind == "redo" else undoing.preview("turn"))


@pytest.mark.parametrize(
    ("setup", "command"),
    [
        ("mkdir -p sub", "mkdir -p sub/one/two sub/three"),
        ("mkdir -p sub/one/two", "rm -rf sub/one"),
        ("mkdir -p sub/one; chmod 700 sub/one", "chmod 500 sub/one"),
        ("mkdir -p sub/one; chmod 700 sub/one", "chmod 755 sub/one"),
        ("mkdir -p sub", "echo 1 > sub/file"),
        ("mkdir -p sub; ln -s a sub/link", "rm sub/link"),
        ("mkdir -p sub; echo 1 > sub/file", "chmod 755 sub/file"),
        ("mkdir -p sub", "mkdir sub/one; echo 1 > sub/one/file; mkfifo sub/one/pipe"),
        ("mkdir -p sub/one", LARGE.format("sub/one/large")),
    ],
)
@pytest.mark.parametrize("kind", ["undo", "redo"])
async def test_what_was_swapped_for_a_link_is_left_alone(
    make_session: SceneMaker, tmp_path: Path, kind: str, setup: str, command: str
) -> None:
    scene = make_session(bash(setup), {"text": "."}, bash(command), {"text": "."}, settings=YOLO)
    await scene.play()
    await scene.play()
    session, root = scene.session, scene.workspace
    if kind == "redo":
        await session.undoing.apply(await previewed(session, "undo"), {})
    shown = await previewed(session, kind)
    # A twin of the folder as it is now, of the same modes and sizes.
    outside = tmp_path / "outside"
    (root / "sub").rename(outside)
    (root / "sub").symlink_to(outside)
    before = state(outside)
    await session.undoing.apply(shown, {})
    assert state(outside) == before
