"""Small questions to servers on this machine, and to no other."""

import json
import urllib.parse
from typing import Any

MAX_BYTES = 4_000_000
"""Bytes of an answer that are read."""


def is_local(url: str) -> bool:
    """Whether a URL leads to this very machine."""
    import ipaddress  # noqa: PLC0415 (needed by few)

    try:
        host = urllib.parse.urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def ask(base: str, path: str, *, timeout: float, body: dict[str, Any] | None = None) -> Any:
    """The JSON a local server answers with; None for anything else. Redirects are not followed."""
    if not is_local(base):
        return None
    import http.client  # noqa: PLC0415 (slow to load, and needed by few)

    parts = urllib.parse.urlsplit(base)
    connection = http.client.HTTPConnection(
        parts.hostname or "127.0.0.1", parts.port or 80, timeout=timeout
    )
    try:
        connection.request(
            "GET" if body is None else "POST",
            path,
            body=None if body is None else json.dumps(body),
            headers={"Accept": "application/json", "Content-Type": "application/json"},
        )
        answer = connection.getresponse()
        if answer.status != 200:
            return None
        return json.loads(answer.read(MAX_BYTES))
    except (OSError, http.client.HTTPException, ValueError, RecursionError):
        return None
    finally:
        connection.close()
