"""Undo, redo and going back on the screen."""

import time
from typing import Any

from agent_cli.frontends.tui.modals.guarded_modal import GuardedModal
from tests.kit.sessions import SceneMaker
from tests.kit.shells import until
from tests.screens.app import Screen, running

YOLO = {"mode": "yolo"}


def bash(command: str, **usage: int) -> dict[str, Any]:
    return {"calls": [{"name": "Bash", "arguments": {"command": command}}], "usage": usage}


async def answer(screen: Screen, key: str) -> None:
    """Press a key once the question has been on the screen for long enough."""
    modal = screen.app.screen
    assert isinstance(modal, GuardedModal)
    await until(lambda: modal.guard.may_answer(time.monotonic()))
    await screen.pilot.press(key)


async def test_the_receipt_folds_open(make_session: SceneMaker) -> None:
    scene = make_session(
        bash("echo 2 >> a.txt", input_tokens=900), {"text": "Done."}, settings=YOLO,
        files={"a.txt": "1\n"},
    )  # fmt: skip
    async with running(scene) as screen:
        await screen.send("go")
        await screen.shows("1 file changed by shell +1 −0 · 900 tokens, unknown price")
        assert "a.txt: changed" not in screen.text
        await screen.idle()
        await screen.pilot.press("ctrl+o")
        await screen.shows("a.txt: changed by shell +1 −0")


async def test_undo_shows_what_it_would_do_and_redo_brings_it_again(
    make_session: SceneMaker,
) -> None:
    scene = make_session(
        bash("rm a.txt; echo new > b.txt"), {"text": "Done."}, settings=YOLO, files={"a.txt": "1\n"}
    )
    async with running(scene) as screen:
        await screen.send("go")
        await screen.shows("2 files changed by shell")
        await screen.idle()
        await screen.send("/undo")
        await screen.asked(
            "Undo 1 change?",
            "a.txt",
            "restored: the call deleted it",
            "removed: the call created it",
        )
        await answer(screen, "y")
        await screen.shows("Undid 1 change (2 files). /redo reapplies it.")
        assert (scene.workspace / "a.txt").read_text() == "1\n"
        assert not (scene.workspace / "b.txt").exists()
        await screen.send("/redo")
        await screen.asked("Redo 1 change?", "deleted again", "created again")
        await answer(screen, "y")
        await screen.shows("Redid 1 change")
        assert not (scene.workspace / "a.txt").exists()


async def test_no_is_the_default(make_session: SceneMaker) -> None:
    scene = make_session(bash("echo new > b.txt"), {"text": "Done."}, settings=YOLO)
    async with running(scene) as screen:
        await screen.send("go")
        await screen.shows("1 file changed by shell")
        await screen.idle()
        await screen.send("/undo")
        await screen.asked("Undo 1 change?")
        await answer(screen, "escape")
        await until(lambda: not isinstance(screen.app.screen, GuardedModal))
        assert (scene.workspace / "b.txt").exists()


async def test_a_conflict_is_asked_about(make_session: SceneMaker) -> None:
    scene = make_session(
        bash("echo agent > a.txt"), {"text": "Done."}, settings=YOLO, files={"a.txt": "before\n"}
    )
    async with running(scene) as screen:
        await screen.send("go")
        await screen.shows("1 file changed by shell")
        await screen.idle()
        (scene.workspace / "a.txt").write_text("mine\n")
        await screen.send("/undo")
        await screen.asked("conflict: you changed the same lines since", "asks about 1 conflict")
        await answer(screen, "y")
        await screen.asked("You changed this file since", "Keep mine", "Merge with markers")
        await answer(screen, "r")
        await screen.shows("Undid 1 change (1 file)")
        assert (scene.workspace / "a.txt").read_text() == "before\n"


async def test_there_may_be_nothing_to_undo(make_session: SceneMaker) -> None:
    async with running(make_session({"text": "Hello."})) as screen:
        await screen.send("/undo")
        await screen.shows("There is nothing to undo")
        await screen.send("/redo")
        await screen.shows("There is nothing to redo")


async def test_esc_esc_goes_back_to_a_prompt(make_session: SceneMaker) -> None:
    scene = make_session(
        bash("echo 1 > a.txt"), {"text": "First."}, bash("echo 2 > a.txt"), {"text": "Second."},
        {"text": "Third."}, settings=YOLO,
    )  # fmt: skip
    async with running(scene, size=(100, 40)) as screen:
        for prompt, reply in (("one", "First."), ("two", "Second.")):
            await screen.send(prompt)
            await screen.shows(reply)
            await screen.idle()
        await screen.pilot.press("escape", "escape")
        await screen.asked("Go back to before which prompt?", "two", "1 file changed")
        await answer(screen, "1")
        await screen.asked("What do you want to restore?", "Bash echo 2 > a.txt", "changed a.txt")
        await answer(screen, "b")
        await screen.asked("Undo 1 change?")
        await answer(screen, "y")
        await until(lambda: screen.app.composer.prompt.text == "two")
        assert (scene.workspace / "a.txt").read_text() == "1\n"
        assert "Second." not in screen.text
        assert "First." in screen.text
        await screen.pilot.press("enter")
        await screen.shows("Third.")
        asked = [str(message) for message in scene.model.requests[-1].messages]
        assert sum("two" in text for text in asked) == 1
        assert not any("echo 2" in text for text in asked)


async def test_one_esc_does_not_go_back(make_session: SceneMaker) -> None:
    async with running(make_session({"text": "Hello."})) as screen:
        await screen.send("hi")
        await screen.shows("Hello.")
        await screen.idle()
        await screen.pilot.press("escape")
        await screen.pilot.pause()
        assert not isinstance(screen.app.screen, GuardedModal)
