"""MCP servers from npm, which nobody here wrote: by pipe and by HTTP."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from agent_cli.core.events import ApprovalAsked, Event, ToolProgress
from agent_cli.core.inbox import Approval
from agent_cli.core.messages import ImagePart, TextPart
from tests.kit.mcp_world import NODE, Served, configure, needs_node_servers, served
from tests.kit.program import children_of
from tests.kit.sessions import Scene, SceneMaker, of_type, results
from tests.kit.shells import until

pytestmark = needs_node_servers

EVERYTHING = str(NODE / "mcp-server-everything")
FILES = str(NODE / "mcp-server-filesystem")


def calls(**named: dict[str, Any]) -> dict[str, Any]:
    return {
        "calls": [
            {"name": f"mcp__all__{name.replace('_', '-')}", "arguments": arguments}
            for name, arguments in named.items()
        ]
    }


STORY = calls(
    echo={"message": "hi"},
    get_sum={"a": 2, "b": "three"},
    get_tiny_image={},
    get_structured_content={"location": "New York"},
    get_resource_links={"count": 2},
    trigger_long_running_operation={"duration": 0.2, "steps": 2},
)


@contextlib.contextmanager
def by_http(port: int = 0) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """The server on a port of this machine; its address and process."""
    if not port:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
    environment = {"PATH": os.environ["PATH"], "PORT": str(port)}
    process = subprocess.Popen(
        [EVERYTHING, "streamableHttp"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        assert process.stdout is not None
        while b"listening" not in (line := process.stdout.readline()).lower():
            assert line, "the server does not start"
        yield f"http://127.0.0.1:{port}/mcp", process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def scene_with(make_session: SceneMaker, *steps: dict[str, Any]) -> Scene:
    pictures = {"models": {"scripted": {"takes_images": True}}}
    return make_session(*steps, {"text": "."}, settings=pictures)


async def check_story(scene: Scene) -> None:
    events = await scene.play("go", lambda _: Approval(answer="once"))
    echo, wrong, picture, data, links, steps = (d.result for d in results(events).values())
    assert echo.llm_content == "Echo: hi"
    assert "b:" in str(wrong.llm_content), "our own check stops it"
    assert not wrong.success
    assert isinstance(picture.llm_content, tuple)
    kinds = [type(part) for part in picture.llm_content]
    assert kinds == [TextPart, ImagePart]
    assert "1 picture" in picture.summary
    assert "temperature" in str(data.llm_content)
    assert str(links.llm_content).count("[resource ") == 2
    assert "completed" in str(steps.llm_content)
    assert {"1 of 2\n", "2 of 2\n"} <= {event.text for event in of_type(events, ToolProgress)}


async def check_cancelling(scene: Scene, made: Served) -> None:
    """Interrupt a long call in its midst; the server is there for the next."""
    events: list[Event] = []
    async with asyncio.timeout(60), aclosing(scene.session.run("wait")) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, ApprovalAsked):
                scene.session.reply(event.request.id, Approval(answer="once"))
            elif isinstance(event, ToolProgress):
                scene.session.interrupt()
    (cut,) = results(events).values()
    assert cut.result.summary == "Interrupted"
    assert made.row("all").state == "ready"


async def test_everything_by_pipe(make_session: SceneMaker) -> None:
    configure(make_session.home, {"all": {"command": EVERYTHING}})
    long = calls(trigger_long_running_operation={"duration": 60, "steps": 600})
    again = calls(echo={"message": "again"})
    scene = scene_with(make_session, STORY, {"text": "."}, long, again)
    made = await served(scene, "all")
    await check_story(scene)
    await check_cancelling(scene, made)

    (pid,) = [p for p in children_of(os.getpid()) if EVERYTHING in _command(p)]
    os.kill(pid, signal.SIGKILL)
    await until(lambda: made.row("all").state != "ready")
    events = await scene.play("once more", lambda _: Approval(answer="once"))
    assert [d.result.llm_content for d in results(events).values()] == ["Echo: again"]


async def test_everything_by_http(make_session: SceneMaker) -> None:
    with by_http() as (url, process):
        configure(make_session.home, {"all": {"url": url}})
        long = calls(trigger_long_running_operation={"duration": 60, "steps": 600})
        echo = calls(echo={"message": "hi"})
        scene = scene_with(make_session, STORY, {"text": "."}, long, echo, echo, echo)
        made = await served(scene, "all")
        await check_story(scene)
        await check_cancelling(scene, made)
        process.kill()
        process.wait()
        port = int(url.split(":")[2].split("/")[0])
        with by_http(port):
            events = await scene.play("once more", lambda _: Approval(answer="once"))
            last = list(results(events).values())[-1].result
            assert last.llm_content == "Echo: hi", "connected again, in a session of its own"


async def test_files_by_pipe(make_session: SceneMaker, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "a.txt").write_text("from the server")
    configure(make_session.home, {"all": {"command": FILES, "args": [str(shared)]}})
    scene = scene_with(
        make_session,
        {
            "calls": [
                {"name": "mcp__all__read_text_file", "arguments": {"path": str(path)}}
                for path in (shared / "a.txt", "/etc/hostname")
            ]
        },
    )
    await served(scene, "all")
    events = await scene.play("go", lambda _: Approval(answer="once"))
    read, refused = (done.result for done in results(events).values())
    assert read.llm_content == "from the server"
    assert "outside allowed directories" in str(refused.llm_content)
    assert not refused.success


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""
