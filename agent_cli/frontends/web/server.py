"""A web server on this machine only: a page, and one app for each page that is open."""

import asyncio
import contextlib
import json
import logging
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from aiohttp import WSMsgType, web

from agent_cli.controller.background import Background
from agent_cli.frontends.web.child import Child
from agent_cli.frontends.web.request_guard import Guard, add_headers, guard_requests
from agent_cli.lib.language import current_language, tr

log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
_PAGE = Path(__file__).with_name("page.html")
_MAX_APPS = 8
_MAX_MESSAGE_BYTES = 16_000_000


class WebServer:
    """Serves a command to whoever knows the address."""

    def __init__(
        self, argv: Sequence[str], environment: Mapping[str, str], statics: Path, port: int
    ) -> None:
        self.guard = Guard(port)
        self._argv = argv
        self._environment = environment
        self._statics = statics
        self._children: set[Child] = set()
        self._background = Background(log.warning, lambda what, why: log.error(what, exc_info=why))

    def application(self) -> web.Application:
        """The routes, all of them below the token."""
        app = web.Application(middlewares=[guard_requests(self.guard)])
        app.router.add_get("/{token}/", self._page)
        app.router.add_get("/{token}/ws", self._websocket)
        app.router.add_static(f"/{self.guard.token}/static", self._statics)
        app.on_response_prepare.append(add_headers)
        app.on_shutdown.append(self._end_children)
        return app

    async def _page(self, request: web.Request) -> web.Response:
        page = _PAGE.read_text(encoding="utf-8")
        values = {
            "{language}": current_language(),
            "{ended}": tr("The session has ended."),
            "{again}": tr("Start another"),
            "{websocket}": f"ws://{request.host}/{self.guard.token}/ws",
        }
        for name, value in values.items():
            page = page.replace(name, value)
        return web.Response(text=page, content_type="text/html")

    async def _websocket(self, request: web.Request) -> web.WebSocketResponse:
        websocket = web.WebSocketResponse(heartbeat=15, max_msg_size=_MAX_MESSAGE_BYTES)
        await websocket.prepare(request)
        if len(self._children) >= _MAX_APPS:
            await websocket.close(message=b"too many pages are open")
            return websocket
        child = Child(self._argv, self._environment)
        self._children.add(child)
        columns = _cells(request.query.get("width"), 80)
        rows = _cells(request.query.get("height"), 24)
        drawing = self._background.start(
            self._draw(child, websocket, columns, rows), "a page could not be drawn"
        )
        try:
            await _listen(websocket, child)
        finally:
            await child.end()
            await asyncio.wait([drawing])
            self._children.discard(child)
        return websocket

    async def _draw(
        self, child: Child, websocket: web.WebSocketResponse, columns: int, rows: int
    ) -> None:
        try:
            with contextlib.suppress(ConnectionError):
                await child.run(columns, rows, websocket.send_bytes)
        finally:
            await websocket.close()

    async def _end_children(self, _: web.Application) -> None:
        await asyncio.gather(*(child.end() for child in self._children))


async def _listen(websocket: web.WebSocketResponse, child: Child) -> None:
    """Pass on what the page says, as far as it makes sense."""
    async for message in websocket:
        if message.type is not WSMsgType.TEXT:
            continue
        try:
            match json.loads(message.data):
                case ["stdin", str(text)]:
                    await child.type(text)
                case ["resize", {"width": int(width), "height": int(height)}]:
                    size = {"width": _cells(width, 80), "height": _cells(height, 24)}
                    await child.tell({"type": "resize", **size})
                case ["ping", str() | int() | float() as data]:
                    await websocket.send_json(["pong", data])
                case ["focus" | "blur" as what, *_]:
                    await child.tell({"type": what})
                case _:
                    pass
        except (ValueError, RecursionError):
            continue


def _cells(given: object, usual: int) -> int:
    """A width or height that makes sense."""
    try:
        return min(max(int(str(given)), 10), 1_000)
    except ValueError:
        return usual


async def serve(server: WebServer, port: int) -> None:
    """Serve until told to end; whatever was started ends too."""
    runner = web.AppRunner(server.application(), access_log=None, shutdown_timeout=10)
    await runner.setup()
    leaving = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, leaving.set)
    try:
        await web.TCPSite(runner, LOOPBACK, port).start()
        await leaving.wait()
    finally:
        await runner.cleanup()
