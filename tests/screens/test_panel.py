"""The side panel."""

import pytest

from tests.kit.sessions import SceneMaker
from tests.screens.app import running

WORKS = {
    "calls": [
        {
            "name": "TodoWrite",
            "arguments": {
                "todos": [
                    {"content": "read [/red]it", "status": "completed"},
                    {"content": "write it", "status": "in_progress"},
                ]
            },
        },
        {"name": "Write", "arguments": {"file_path": "new.txt", "content": "a\nb\n"}},
        {"name": "Bash", "arguments": {"command": "sleep 600", "run_in_background": True}},
    ]
}
YOLO = {"mode": "yolo"}


@pytest.mark.parametrize("size", [(60, 20), (100, 30), (240, 70)])
async def test_the_panel_tells_todo_files_and_jobs(
    make_session: SceneMaker, size: tuple[int, int]
) -> None:
    scene = make_session(WORKS, {"text": "all done"}, settings=YOLO)
    async with running(scene, size=size) as screen:
        assert "Changed files" not in screen.text
        await screen.send("go")
        await screen.shows("all done")
        await screen.pilot.press("ctrl+b")
        await screen.shows("1 of 2", "☑ read [/red]it", "▶ write it", "new.txt  +2 −0", "sleep 600")
        assert " new.txt  +2 −0" in screen.text, "a file of the project goes by its name there"
        assert ("all done" in screen.text) is (size[0] > 60)
        await screen.pilot.press("ctrl+b")
        await screen.shows("all done")
        assert "Changed files" not in screen.text


async def test_an_open_panel_shows_what_calls_changed(
    make_session: SceneMaker,
) -> None:
    scene = make_session(WORKS, {"text": "ok"}, settings=YOLO)
    async with running(scene) as screen:
        await screen.pilot.press("ctrl+b")
        await screen.shows("nothing yet", "none yet", "nothing running")
        await screen.send("go")
        await screen.shows("▶ write it", "+2 −0")
        await screen.idle()
        await screen.send("/clear")
        await screen.shows("new.txt")
