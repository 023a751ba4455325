"""Lets in who knows the secret address, from this machine's own pages only."""

import hmac
import secrets

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from agent_cli.lib.language import tr

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; "
    "style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Guard:
    """Knows the token and the names under which the server may be called."""

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._hosts = frozenset(hosts)
        self._origins = frozenset(f"http://{host}" for host in hosts)
        self.address = f"http://{hosts[0]}/{self.token}/"
        """Where a browser finds the app."""

    def lets_in(self, request: web.Request) -> bool:
        """Whether a request may continue.

        A page elsewhere can make a browser call us under a name of its own (DNS rebinding), and
        may open a websocket to anywhere: the names it was called by and came from tell.
        """
        if request.headers.get("Host", "") not in self._hosts:
            return False
        origin = request.headers.get("Origin")
        is_websocket = "upgrade" in request.headers.get("Connection", "").lower()
        if origin is None:
            if is_websocket:  # browsers always say where one comes from
                return False
        elif origin not in self._origins:
            return False
        given = request.path.split("/")[1]
        return hmac.compare_digest(given.encode(), self.token.encode())


def guard_requests(guard: Guard) -> Middleware:
    """Middleware: nothing is answered to strangers, and every answer says how to be handled."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not guard.lets_in(request):
            return web.Response(status=403, text=tr("Forbidden") + "\n", headers=_HEADERS)
        return await handler(request)

    return check


async def add_headers(_: web.Request, response: web.StreamResponse) -> None:
    """Before an answer is sent."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
