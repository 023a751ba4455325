"""`agent serve` over real HTTP and a real websocket, and in a real browser where there is one."""

import asyncio
import json
import re
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pyte
import pytest

from tests.kit.program import Program, children_of, wait_until

READY = "Ask, or / for commands"
PATIENCE = 60.0

Ask = Callable[..., Awaitable[dict[str, Any]]]


@contextmanager
def serving(program: Program, *steps: dict[str, object]) -> Iterator[tuple[str, int]]:
    """A running server: its address and its process."""
    model = program.script(*steps)
    process = program.start("serve", "--trust", "--model", model)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, (line, process.stderr and process.stderr.read())
        yield found[0], process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        process.communicate()


async def until_up(session: aiohttp.ClientSession, address: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                async with session.get(address) as answer:
                    assert answer.status == 200
                    return
            except aiohttp.ClientConnectorError:
                await asyncio.sleep(0.02)


class Page:
    """What a browser would show of the websocket's bytes."""

    def __init__(self, websocket: aiohttp.ClientWebSocketResponse) -> None:
        self.websocket = websocket
        self._screen = pyte.Screen(100, 30)
        self._stream = pyte.ByteStream(self._screen)

    async def wait_for(self, text: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while text not in "\n".join(self._screen.display):
                message = await self.websocket.receive()
                assert message.type is aiohttp.WSMsgType.BINARY, (message, self._screen.display)
                self._stream.feed(re.sub(rb"\x1b\[[<=>?][\d;]*[a-zA-Z$]+", b"", message.data))

    async def type(self, text: str) -> None:
        await self.websocket.send_str(json.dumps(["stdin", text]))


@asynccontextmanager
async def opened(session: aiohttp.ClientSession, address: str) -> AsyncIterator[Page]:
    parts = urlsplit(address)
    url = f"ws://{parts.netloc}{parts.path}ws?width=100&height=30"
    async with session.ws_connect(url, origin=f"http://{parts.netloc}") as websocket:
        yield Page(websocket)


async def test_the_app_works_over_the_websocket_and_ends_with_its_page_or_the_server(
    program: Program,
) -> None:
    async with aiohttp.ClientSession() as session, AsyncExitStack() as stack:
        with serving(program, {"text": "Hello from the page."}) as (address, server):
            await until_up(session, address)
            async with opened(session, address) as page:
                await page.wait_for(READY)
                assert len(children_of(server)) == 1
                await page.type("hi\r")
                await page.wait_for("Hello from the page.")
            await asyncio.to_thread(wait_until, lambda: not children_of(server))
            page = await stack.enter_async_context(opened(session, address))
            await page.wait_for(READY)
            [child] = children_of(server)
        assert not _is_alive(child)


async def test_an_app_leaves_when_its_server_was_killed(program: Program) -> None:
    process = program.start("serve", "--trust", "--model", program.script({"text": "x"}))
    assert process.stdout is not None
    address = process.stdout.readline().split()[-1]
    try:
        async with aiohttp.ClientSession() as session:
            await until_up(session, address)
            async with opened(session, address) as page:
                await page.wait_for(READY)
                [child] = children_of(process.pid)
                process.kill()
                await asyncio.to_thread(wait_until, lambda: not _is_alive(child))
    finally:
        process.kill()
        process.communicate()


async def test_strangers_get_nothing(program: Program) -> None:
    with serving(program, {"text": "x"}) as (address, server):
        parts = urlsplit(address)
        here = f"http://{parts.netloc}"
        async with aiohttp.ClientSession() as session:
            await until_up(session, address)

            async def status(url: str, **headers: str) -> int:
                async with session.get(url, headers=headers) as answer:
                    return answer.status

            assert await status(f"{here}/") == 403
            assert await status(f"{here}/wrong/") == 403
            assert await status(f"{here}/static/js/textual.js") == 403
            assert await status(address, Host="evil.example") == 403
            assert await status(address, Host=f"evil.example:{parts.port}") == 403
            assert await status(address, Origin="http://evil.example") == 403
            assert await status(f"{address}static/js/textual.js") == 200
            assert await status(f"{address}static/../../../../etc/passwd") in (403, 404)
            for url, origin in (
                (f"ws://{parts.netloc}/ws", here),
                (f"ws://{parts.netloc}/wrong/ws", here),
                (f"ws://{parts.netloc}{parts.path}ws", "http://evil.example"),
                (f"ws://{parts.netloc}{parts.path}ws", None),
            ):
                with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                    await session.ws_connect(url, origin=origin)
                assert refused.value.status == 403
            async with session.get(address) as answer:
                assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
                assert answer.headers["Referrer-Policy"] == "no-referrer"
                assert "//fonts." not in await answer.text()
        assert not children_of(server)
        listening = subprocess.run(["ss", "-ltn"], capture_output=True, text=True, check=False)
        if listening.returncode == 0:
            assert f"0.0.0.0:{parts.port}" not in listening.stdout


async def test_a_person_works_in_a_real_browser(program: Program, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no chromium here")
    async with aiohttp.ClientSession() as session:
        with serving(program, {"text": "x"}) as (address, _):
            await until_up(session, address)
            with browsing(browser, address, tmp_path) as debugger:
                async with asyncio.timeout(PATIENCE), tools_of(session, debugger, address) as ask:
                    await until_true(ask, "document.body.classList.contains('-first-byte')")
                    await until_true(
                        ask, "!document.querySelector('.xterm-helper-textarea').focus()"
                    )
                    await ask("Input.insertText", text="!touch from-the-browser")
                    await ask("Input.dispatchKeyEvent", type="char", text="\r")
                    made = program.workspace / "from-the-browser"
                    await asyncio.to_thread(wait_until, made.exists, PATIENCE)


@contextmanager
def browsing(browser: str, address: str, directory: Path) -> Iterator[str]:
    """A headless browser at an address; where its developer tools listen."""
    flags = (
        "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --disable-quic --disable-dev-shm-usage "
        "--remote-debugging-port=0"
    )
    page = subprocess.Popen(
        [browser, *flags.split(), f"--user-data-dir={directory / 'profile'}", address],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert page.stderr is not None
    try:
        debugger = ""
        while not debugger:
            line = page.stderr.readline()
            assert line, "the browser ended"
            debugger = line.partition("listening on ")[2].strip()
        yield urlsplit(debugger).netloc
    finally:
        page.kill()
        page.communicate()


@asynccontextmanager
async def tools_of(
    session: aiohttp.ClientSession, debugger: str, address: str
) -> AsyncIterator[Ask]:
    """The developer tools of the page at an address."""
    pages: list[dict[str, str]] = []
    while not pages:
        async with session.get(f"http://{debugger}/json/list") as answer:
            pages = [each for each in await answer.json() if each["url"] == address]
        await asyncio.sleep(0.05)
    async with session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0) as tools:

        async def ask(method: str, **parameters: object) -> dict[str, Any]:
            await tools.send_json({"id": 1, "method": method, "params": parameters})
            while (told := await tools.receive_json()).get("id") != 1:
                pass
            result: dict[str, Any] = told.get("result", {})
            return result

        yield ask


async def until_true(ask: Ask, expression: str) -> None:
    """Wait until something holds in the page."""
    while True:
        told = await ask("Runtime.evaluate", expression=expression)
        if told.get("result", {}).get("value") is True:
            return
        await asyncio.sleep(0.05)


def _is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
