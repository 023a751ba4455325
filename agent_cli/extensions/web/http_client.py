"""Sends one HTTP request: to an address that was checked, for a limited time, of limited size."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from agent_cli import __version__
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.extensions.web.address import Address, resolve
from agent_cli.extensions.web.unpacking import ACCEPTED, Unpacker
from agent_cli.lib.threads import in_own_thread

if TYPE_CHECKING:
    import httpx

MAX_REDIRECTS = 5
MAX_ADDRESSES = 4
"""Of one host that are tried in turn."""
CONNECT_TIMEOUT_S = 10.0
REDIRECTS = frozenset({301, 302, 303, 307, 308})


class WebLimits(BaseModel):
    """The `[web]` table, as far as requests go."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    private_hosts: tuple[str, ...] = ()
    seconds: float = 30.0
    most_bytes: int = 2_000_000
    cache_minutes: float = 15.0


@dataclass(frozen=True)
class HttpRequest:
    """What is sent."""

    address: Address
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True)
class HttpResponse:
    """What came back."""

    address: Address
    status: int
    phrase: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    is_cut: bool = False
    """There was more than is read."""

    @property
    def status_line(self) -> str:
        """ "404 Not Found"."""
        return f"{self.status} {self.phrase}".rstrip()

    @property
    def content_type(self) -> str:
        """The declared type, in lower case and with its parameters."""
        return self.header("content-type").lower()

    def header(self, name: str) -> str:
        """The first header of this name; empty if there is none."""
        return next((value for known, value in self.headers if known.lower() == name), "")


class Client:
    """Talks HTTP by the limits of a session. Nothing of the environment (proxies, .netrc) counts:
    a proxy would look names up for itself, and then nobody knows where a request goes."""

    def __init__(self, limits: WebLimits) -> None:
        self.limits = limits

    async def send(self, request: HttpRequest, *, follow: bool = False) -> HttpResponse:
        """The answer; with `follow`, redirects are followed as long as the host is the same."""
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await self._follow(request) if follow else await self._send(request)
        except TimeoutError as error:
            raise ToolFailure(
                f"{request.address.host} did not finish its response within "
                f"{self.limits.seconds:g} s.",
                type=FailureType.TIMEOUT,
            ) from error

    async def _follow(self, request: HttpRequest) -> HttpResponse:
        address = request.address
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._send(
                HttpRequest(address, request.method, request.headers, request.body)
            )
            location = answer.header("location")
            if answer.status not in REDIRECTS or not location:
                return answer
            address = _next_hop(address, location)
        raise ToolFailure(f"{request.address} redirects more than {MAX_REDIRECTS} times; gave up.")

    async def _send(self, request: HttpRequest) -> HttpResponse:
        ips = await resolve(request.address, self.limits.private_hosts)
        verify = await in_own_thread(lambda: self._trusted)
        import httpx  # noqa: PLC0415 (by now in memory: see `_trusted`)

        problem: Exception | None = None
        for ip in ips[:MAX_ADDRESSES]:
            async with httpx.AsyncClient(
                verify=verify,
                trust_env=False,
                follow_redirects=False,
                timeout=httpx.Timeout(None, connect=CONNECT_TIMEOUT_S),
            ) as client:
                try:
                    return await self._answer(client, request, ip)
                except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                    problem = error  # nothing was sent: the next address may do
                except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
                    raise _explain(request.address, error) from error
        raise _explain(request.address, problem) from problem

    async def _answer(
        self, client: httpx.AsyncClient, request: HttpRequest, ip: str
    ) -> HttpResponse:
        address = request.address
        headers = {
            "User-Agent": f"agent-cli/{__version__}",
            "Accept": "*/*",
            **request.headers,
            "Host": address.host_and_port,
            "Accept-Encoding": ACCEPTED,
        }
        async with client.stream(
            request.method,
            address.at(ip),
            headers=headers,
            content=request.body or None,
            # The certificate must be the name's, though a number is connected to.
            extensions={"sni_hostname": address.host},
        ) as response:
            unpacker = Unpacker(response.headers.get("content-encoding", ""), self._most(request))
            async for piece in response.aiter_raw():
                unpacker.add(piece)
                if unpacker.is_full:
                    break
            return HttpResponse(
                address=address,
                status=response.status_code,
                phrase=response.reason_phrase,
                headers=tuple(response.headers.multi_items()),
                body=unpacker.data,
                is_cut=unpacker.is_full,
            )

    def _most(self, request: HttpRequest) -> int:
        return 0 if request.method == "HEAD" else self.limits.most_bytes

    @cached_property
    def _trusted(self) -> ssl.SSLContext:
        """Whom we trust: the system's authorities and the usual ones.

        It takes a while, and so does the import: in a thread, neither holds anybody up.
        """
        import certifi  # noqa: PLC0415
        import httpx  # noqa: F401, PLC0415

        context = ssl.create_default_context(cafile=certifi.where())
        context.load_default_certs()
        return context


def _next_hop(address: Address, location: str) -> Address:
    """Where a redirect leads, if it may be followed unasked: to the same host, no less secret."""
    try:
        target = address.towards(location)
    except ValueError as error:
        raise ToolFailure(
            f"{address} redirects to an address that cannot be used: {error}."
        ) from error
    if target.host != address.host:
        raise ToolFailure(
            f"{address} redirects to another host, {target.host}; nothing was "
            f"sent there. To continue, make a new call with this URL: {target}",
            type=FailureType.PERMISSION,
        )
    if address.scheme == "https" and target.scheme == "http":
        raise ToolFailure(
            f"{address} redirects to {target}, which is not encrypted; the "
            "redirect was not followed.",
            type=FailureType.PERMISSION,
        )
    return target


def _explain(address: Address, error: Exception | None) -> ToolFailure:
    what = str(error) or type(error).__name__
    return ToolFailure(f"The request to {address.host} failed: {what}.")
