"""An MCP server by HTTP that wants the person to sign in; and what it may answer with."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_cli.core.inbox import Approval
from agent_cli.extensions.mcp import signing_in
from tests.kit.mcp_world import configure, served
from tests.kit.program import ROOT, wait_until
from tests.kit.sessions import SceneMaker, results


@contextlib.contextmanager
def guarded_server() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "tests" / "kit" / "guarded_server.py"), str(port)],
        env={"PATH": os.environ["PATH"]},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def listens() -> bool:
        assert process.poll() is None, "the server does not start"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        return False

    try:
        wait_until(listens, 60)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


async def test_the_person_signs_in_once_and_floods_are_dropped(
    make_session: SceneMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signing_in.webbrowser, "open", lambda _url: False)
    step = {"calls": [{"name": f"mcp__guarded__{name}"} for name in ("flood", "secret")]}
    with guarded_server() as url:
        configure(make_session.home, {"guarded": {"url": url}})
        scene = make_session(step, {"text": "."})
        made = await served(scene)
        assert "needs you to sign in" in await made.approve("guarded")

        visits: list[asyncio.Future[object]] = []

        def show(address: str) -> None:
            """The person opens the address; the page sends the browser back to us."""
            loop = asyncio.get_running_loop()
            visits.append(loop.run_in_executor(None, urllib.request.urlopen, address))

        assert await made.servers.sign_in(made.server("guarded"), show) == "Signed in to guarded."
        page = await visits[0]
        page.close()  # type: ignore[attr-defined]
        (kept,) = (make_session.home / ".local/state/agent/mcp/tokens").iterdir()
        assert kept.stat().st_mode & 0o77 == 0
        assert "Approved guarded with 2 tools" in await made.approve("guarded")
        events = await scene.play("go", lambda _: Approval(answer="once"))
        flood, secret = (str(done.result.llm_content) for done in results(events).values())
        assert "MB" in flood
        assert secret == "the cake is real"

        again = await served(make_session())
        assert again.row("guarded").state == "ready", "nobody had to sign in again"


def test_nothing_is_kept_where_others_can_read(tmp_path: Path) -> None:
    tokens = signing_in.Tokens(tmp_path / "deep" / "tokens.json")
    token = signing_in.OAuthToken(access_token="x", token_type="Bearer")
    asyncio.run(tokens.set_tokens(token))
    assert asyncio.run(tokens.get_tokens()) == token
    assert (tmp_path / "deep" / "tokens.json").stat().st_mode & 0o77 == 0
    assert tokens.forget()
    assert asyncio.run(tokens.get_tokens()) is None


@pytest.mark.parametrize("place", ["resource_metadata", "authorization_servers"])
async def test_a_server_cannot_send_the_sign_in_to_a_private_address(
    make_session: SceneMaker, place: str
) -> None:
    visits: list[bytes] = []

    async def inner(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visits.append(await reader.readline())
        writer.close()

    private = await asyncio.start_server(inner, "127.0.0.3", 0)
    target = f"http://127.0.0.3:{private.sockets[0].getsockname()[1]}/latest/meta-data"

    async def outer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readline()).decode()
        own = f"http://127.0.0.1:{port}/metadata"
        metadata = target if place == "resource_metadata" else own
        body, status = b"", f'401 No\r\nWWW-Authenticate: Bearer resource_metadata="{metadata}"'
        if "/metadata" in line:
            status = "200 OK\r\nContent-Type: application/json"
            found = {"resource": f"http://127.0.0.1:{port}/mcp", "authorization_servers": [target]}
            body = json.dumps(found).encode()
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n".encode())
        writer.write(b"Connection: close\r\n\r\n" + body)
        await writer.drain()
        writer.close()

    public = await asyncio.start_server(outer, "127.0.0.1", 0)
    port = public.sockets[0].getsockname()[1]
    async with private, public:
        configure(make_session.home, {"evil": {"url": f"http://127.0.0.1:{port}/mcp"}})
        made = await served(make_session({"text": "."}))
        await made.approve("evil")
        assert visits == []


async def test_only_whoever_knows_the_state_ends_a_sign_in(tmp_path: Path) -> None:
    shown: list[str] = []
    sign_in = signing_in.SignIn("http://h/", signing_in.Tokens(tmp_path / "t"), shown.append)
    await sign_in.provider()
    await sign_in._redirect("ftp://h/authorize?state=right")
    assert sign_in._server is not None
    port = sign_in._server.sockets[0].getsockname()[1]

    async def visit(query: str) -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET /callback?{query} HTTP/1.1\r\n\r\n".encode())
        said = (await reader.read()).decode()
        writer.close()
        return said

    for query in ("code=x", "code=x&state=wrong", "error=denied&state="):
        assert "Signed in" not in await visit(query)
    assert "Signed in" in await visit("code=good&state=right")
    assert (await sign_in._come_back()).code == "good"
    sign_in.close()
