"""A session as a program of its own: `python -m tests.kit.undo_process DIRECTORY`.

Reads one JSON object a line: {"calls": […]} plays a turn, {"undo": "turn"} undoes one. Answers each
with a line: what it did, as JSON.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from agent_cli.core.errors import UserError
from agent_cli.models.scripted import ScriptedStep
from tests.kit.sessions import Scene, SceneMaker, finish


class Shared(SceneMaker):
    """Makes sessions in a directory that others use too."""

    def __init__(self, directory: Path) -> None:
        self._made = []
        self.workspace, self.home = directory / "project", directory / "home"


async def answer(scene: Scene, asked: dict[str, Any]) -> dict[str, Any]:
    """Do what a line asks."""
    if "calls" in asked:
        steps = [*({"calls": [call]} for call in asked["calls"]), {"text": "done"}]
        scene.model._steps += map(ScriptedStep.model_validate, steps)
        events = await scene.play()
        return {"files": sorted({each.path for each in finish(events).receipt.files})}
    try:
        preview = await scene.session.undoing.preview(asked["undo"])
    except UserError as error:
        return {"nothing": error.message}
    restored = await scene.session.undoing.apply(preview)
    outcomes = {each.path: each.outcome for each in preview.files}
    return {"outcomes": outcomes, "failed": dict(restored.failed)}


async def main(directory: Path) -> None:
    """Answer until nobody asks any more."""
    maker = Shared(directory)
    scene = maker(settings={"mode": "yolo"})
    try:
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await answer(scene, json.loads(line))), flush=True)
    finally:
        await maker.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
