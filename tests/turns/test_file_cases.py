"""Every case of the path corpus about reading and changing files, through whole sessions."""

import base64
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from agent_cli.config.schema import Settings
from agent_cli.core.events import ApprovalAsked, ToolFinished
from agent_cli.core.inbox import Approval
from agent_cli.core.messages import text_of
from agent_cli.launch_options import LaunchOptions
from agent_cli.lib import files
from agent_cli.models.scripted import ScriptedModel
from agent_cli.runtime import open_session
from tests.kit.path_cases import (
    CASES,
    Case,
    Place,
    Unsuitable,
    changed,
    content_to_keep,
    races,
    set_up,
)
from tests.kit.sessions import OneModel, Scene, of_type

TOOLS = {"read": "Read", "write": "Write", "edit": "Edit"}


def arguments(case: Case, path: str) -> dict[str, Any]:
    given: dict[str, Any] = {"file_path": path}
    if case["op"] == "write":
        given["content"] = "new\n"
    elif case["op"] == "edit":
        args = case["args"]
        given |= {"old_string": args["old"], "new_string": args["new"]}
    return given


def scene_of(case: Case, place: Place) -> Scene:
    """A session whose model reads the file first where it must, and then makes the call."""
    path = place.fill(case["path"])
    reading = {"id": "first", "name": "Read", "arguments": {"file_path": path}}
    call = {"id": "call", "name": TOOLS[case["op"]], "arguments": arguments(case, path)}
    steps = [{"calls": [reading]}] if case["op"] != "read" else []
    model = ScriptedModel([*steps, {"calls": [call]}, {"text": "done"}])
    session = open_session(
        LaunchOptions(cwd=place.workspace, trust=True),
        Settings.model_validate({"model": "scripted"}),
        environment={"HOME": str(place.home), "PATH": "/usr/bin:/bin"},
        models=OneModel({"scripted": model}),
    )
    return Scene(session, model, place.workspace, place.home)


def race(case: Case, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """What happens behind the session's back once the person was asked."""
    match case["id"]:
        case "toctou-swap-dir":
            (place.workspace / "d").rmdir()
            (place.workspace / "d").symlink_to(place.outside)
        case "toctou-content":
            (place.workspace / "a.txt").write_text("hello again\n")
        case "atomic-write-crash":

            def full(_: int) -> None:
                raise OSError(28, "No space left on device")

            monkeypatch.setattr(files.os, "fsync", full)
        case other:
            raise AssertionError(f"no race for {other}")


def decision(events: list[Any]) -> str:
    """What became of the call, in the words of the corpus."""
    asked = [event for event in of_type(events, ApprovalAsked) if event.request.call_id == "call"]
    (end,) = (event for event in of_type(events, ToolFinished) if event.call_id == "call")
    if end.result.error is not None:
        return "deny" if end.result.error.type == "permission" else "error"
    return "confirm" if asked else "allow"


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["op"] in TOOLS], ids=lambda case: str(case["id"])
)
async def test_file_case(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        place = set_up(case, tmp_path)
    except Unsuitable as lacking:
        pytest.skip(f"needs {lacking}")
    if case["id"] == "unreadable-file" and os.geteuid() == 0:
        pytest.skip("root reads everything")
    kept = content_to_keep(case, place)
    scene = scene_of(case, place)

    def answer(event: ApprovalAsked) -> Approval:
        if event.request.call_id == "first":
            return Approval(answer="once")
        if races(case):
            race(case, place, monkeypatch)
        # Nothing is ever really written outside of the test's own directory.
        own = place.workspace.parent in place.at(case["path"]).resolve().parents
        return Approval(answer="once" if own or case["op"] == "read" else "no")

    events = await scene.play(answer=answer)
    await scene.session.close()
    asked = [event for event in of_type(events, ApprovalAsked) if event.request.call_id == "call"]
    made = decision(events)
    expected = {case["expect"], *case.get("also_ok", ())}
    if "confirm" in expected and asked:
        made = "confirm"
    assert made in expected
    _check_after(case, place, kept, events)


def _check_after(case: Case, place: Place, kept: dict[str, bytes], events: list[Any]) -> None:
    path = place.at(case["path"])
    if case["id"] != "toctou-content":
        assert changed(case, place, kept) == []
    if "after_b64" in case:
        assert path.read_bytes() == base64.b64decode(case["after_b64"])
    if "after_mode" in case:
        assert stat.S_IMODE(path.stat().st_mode) == int(case["after_mode"], 8)
    if "max_output_chars" in case:
        (end,) = (event for event in of_type(events, ToolFinished) if event.call_id == "call")
        assert len(text_of(end.result.llm_content)) <= case["max_output_chars"]
