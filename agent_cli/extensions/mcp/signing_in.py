"""Signs in to servers that want it (OAuth): in the user's browser; tokens are kept here."""

import asyncio
import contextlib
import json
import os
import secrets
import webbrowser
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import BaseModel

from agent_cli.lib.files import open_regular, private_directory, write_atomic
from agent_cli.lib.language import tr
from agent_cli.lib.threads import in_own_thread

T = TypeVar("T", bound=BaseModel)

MAX_BYTES = 1_000_000
SIGN_IN_TIMEOUT_S = 300.0
"""Seconds for the user to sign in."""
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n\r\n"


class SignInNeeded(Exception):
    """The server wants the user to sign in, and this is no moment to ask."""

    def __init__(self) -> None:
        super().__init__(tr("it needs you to sign in"))


class Tokens:
    """What a server gave us, in a file that only its owner can read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def get_tokens(self) -> OAuthToken | None:
        return self._read("tokens", OAuthToken)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._write("tokens", tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._read("client", OAuthClientInformationFull)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._write("client", client_info)

    def forget(self) -> bool:
        """Sign out here; False if nothing was kept."""
        try:
            self._path.unlink()
        except FileNotFoundError:
            return False
        return True

    @property
    def port(self) -> int:
        """Where the browser comes back to: as it was registered, or wherever there is room."""
        client = self._read("client", OAuthClientInformationFull)
        uris = client.redirect_uris if client is not None else None
        return (uris[0].port or 0) if uris else 0

    def _read(self, name: str, kind: type[T]) -> T | None:
        known = self._load().get(name)
        with contextlib.suppress(ValueError):
            return kind.model_validate(known) if known else None
        return None

    def _write(self, name: str, value: Any) -> None:
        known = {**self._load(), name: value.model_dump(mode="json", exclude_none=True)}
        private_directory(self._path.parent)
        write_atomic(self._path, json.dumps(known).encode(), mode=0o600)

    def _load(self) -> dict[str, Any]:
        try:
            with os.fdopen(open_regular(self._path), "rb") as file:
                known = json.loads(file.read(MAX_BYTES))
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}


class SignIn:
    """Waits, on this machine alone, for the browser to bring the user's consent back."""

    def __init__(self, url: str, tokens: Tokens, show: Callable[[str], None] | None) -> None:
        self._url = url
        self._tokens = tokens
        self._show = show
        self._answer: asyncio.Future[AuthorizationCodeResult] | None = None
        self._state = ""
        """What the browser must bring back: whoever does not know it was not sent by us."""
        self._server: asyncio.Server | None = None
        self.was_needed = False
        """Whether the user would have had to be asked."""

    async def provider(self) -> OAuthClientProvider:
        """What signs requests. Without `show` it only uses what is kept already."""
        port = self._tokens.port
        if self._show is not None:
            port = await self._listen(port)
        metadata = OAuthClientMetadata(
            client_name="agent",
            redirect_uris=[f"http://127.0.0.1:{port or 1}/callback"],
            token_endpoint_auth_method="none",
        )
        return OAuthClientProvider(
            self._url, metadata, self._tokens, self._redirect, self._come_back
        )

    def close(self) -> None:
        """Wait no longer."""
        if self._server is not None:
            self._server.close()

    async def _listen(self, port: int) -> int:
        try:
            self._server = await asyncio.start_server(self._visit, "127.0.0.1", port)
        except OSError:  # somebody else has it; the server will get to know the new one
            self._tokens.forget()
            self._server = await asyncio.start_server(self._visit, "127.0.0.1", 0)
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    async def _redirect(self, url: str) -> None:
        if self._show is None:
            self.was_needed = True
            raise SignInNeeded
        self._answer = asyncio.get_running_loop().create_future()
        self._state = parse_qs(urlsplit(url).query).get("state", [""])[0]
        self._show(url)
        if urlsplit(url).scheme in ("http", "https"):
            with contextlib.suppress(Exception):  # a browser is a comfort
                await in_own_thread(lambda: webbrowser.open(url))

    async def _come_back(self) -> AuthorizationCodeResult:
        assert self._answer is not None
        async with asyncio.timeout(SIGN_IN_TIMEOUT_S):
            return await self._answer

    async def _visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said = tr("There is nothing here.")
        with contextlib.suppress(Exception):
            line = (await reader.readline()).decode("ascii", "replace").split(" ")
            where = urlsplit(line[1])
            given = {name: values[0] for name, values in parse_qs(where.query).items()}
            is_ours = secrets.compare_digest(given.get("state", "").encode(), self._state.encode())
            waits = self._answer is not None and not self._answer.done()
            if where.path == "/callback" and self._answer is not None and waits and is_ours:
                if "code" in given:
                    self._answer.set_result(AuthorizationCodeResult.model_validate(given))
                    said = tr("Signed in. You can close this page and return to the terminal.")
                else:
                    told = given.get("error_description") or given.get("error")
                    problem = told[:200] if told else tr("no code")
                    self._answer.set_exception(PermissionError(problem))
                    said = tr("Not signed in: {problem}", problem=problem)
        with contextlib.suppress(OSError):
            writer.write(PAGE + f"<!doctype html><p>{escape(said)}</p>".encode())
            await writer.drain()
            writer.close()
