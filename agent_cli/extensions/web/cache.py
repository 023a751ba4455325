"""Remembers pages for a while, so that reading one twice costs one request."""

import time
from collections.abc import Callable

from agent_cli.extensions.web.http_client import HttpResponse

MAX_BYTES = 50_000_000
"""Of all pages together; the oldest leave first."""


class PageCache:
    """The pages of one session, by address."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[HttpResponse, float]] = {}
        """Each with the time since when it is kept."""

    def get(self, url: str, seconds: float) -> HttpResponse | None:
        """The page, if it is no older than this."""
        answer, since = self._kept.get(url, (None, 0.0))
        return answer if self._clock() - since < seconds else None

    def keep(self, url: str, answer: HttpResponse) -> None:
        """Remember a page."""
        self._kept.pop(url, None)
        self._kept[url] = (answer, self._clock())
        while len(self._kept) > 1 and self._size() > MAX_BYTES:
            del self._kept[next(iter(self._kept))]

    def _size(self) -> int:
        return sum(len(answer.body) for answer, _ in self._kept.values())
