"""One tool call through a whole session: the shortest way to test a tool as the model meets it."""

import json
from collections.abc import Mapping
from typing import Any

from agent_cli.core.events import ToolFinished
from agent_cli.core.tool import ToolResult
from tests.kit.sessions import Scene, SceneMaker, of_type


async def one_call(
    make_session: SceneMaker, name: str, arguments: Mapping[str, Any] | None = None, **session: Any
) -> ToolResult:
    """What came of a call in a session of its own."""
    return await call_in(scene_with(make_session, name, arguments, **session))


def scene_with(
    make_session: SceneMaker, name: str, arguments: Mapping[str, Any] | None = None, **session: Any
) -> Scene:
    """A session whose model makes this call and then is done."""
    made = {"name": name, "arguments": json.dumps(arguments or {})}
    return make_session({"calls": [made]}, {"text": "done"}, **session)


async def call_in(scene: Scene) -> ToolResult:
    """Play the session's turn; the result of its one call."""
    (finished,) = of_type(await scene.play(), ToolFinished)
    return finished.result
