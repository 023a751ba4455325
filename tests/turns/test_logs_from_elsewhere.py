"""A session log that somebody else wrote decides neither where the conversation goes nor the mode."""

import asyncio
import json
from typing import Any

import pytest

from agent_cli.core.policy import Mode
from agent_cli.launch_options import LaunchOptions, Resume
from agent_cli.runtime import find_session
from tests.kit.program import Program
from tests.kit.sessions import SceneMaker


async def test_the_model_of_a_foreign_log_is_not_used(program: Program) -> None:
    visits: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visits.append(await reader.readline())
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    model = program.script({"text": "hi"}, {"text": "again"})
    assert (await asyncio.to_thread(program.run, "-p", "go", "--model", model)).code == 0
    (log,) = program.home.rglob("sessions/*.jsonl")
    evil = f"oobabooga/http://127.0.0.1:{port}/x"
    log.write_text(log.read_text().replace(json.dumps(model), json.dumps(evil)))
    (program.home / ".config" / "agent").mkdir(parents=True, exist_ok=True)
    (program.home / ".config" / "agent" / "config.toml").write_text(f'model = "{model}"\n')
    async with server:
        done = await asyncio.to_thread(program.run, "-c", "-p", "more")
    assert visits == []
    assert done.code == 0, done.err
    assert done.out == "hi\n"


@pytest.mark.parametrize(
    ("left", "configured", "mode"),
    [
        ("auto", "default", "default"), ("accept-edits", "default", "default"),
        ("yolo", "default", "default"), ("plan", "auto", "plan"), ("default", "auto", "default"),
        ("accept-edits", "auto", "accept-edits"),
    ],
)  # fmt: skip
async def test_the_mode_of_a_log_loosens_nothing(
    make_session: SceneMaker, left: str, configured: str, mode: str
) -> None:
    scene = make_session({"text": "."}, settings={"mode": "default"})
    scene.session.set_mode(Mode(left))
    await scene.play()
    await scene.session.close()
    settings: dict[str, Any] = {"mode": configured}
    resumed = make_session(settings=settings, resume=Resume(scene.session.id))
    assert resumed.session.mode is Mode(mode)


async def test_a_model_that_was_used_here_is_resumed(make_session: SceneMaker) -> None:
    environment = {"HOME": str(make_session.home)}
    scene = make_session({"text": "."})
    await scene.play()
    await scene.session.close()
    launch = LaunchOptions(cwd=make_session.workspace, resume=Resume(scene.session.id))
    assert find_session(launch, environment).settings["model"] == "scripted"
