"""Closes several things, whatever one of them raises."""

import inspect
import logging
from collections.abc import Callable

log = logging.getLogger(__name__)


async def close_all(*closers: Callable[[], object]) -> None:
    """Call each in order, and wait for those that must be waited for.

    An error is logged and keeps nothing from being closed; the first one is raised in the end.
    """
    first: BaseException | None = None
    for close in closers:
        try:
            closing = close()
            if inspect.isawaitable(closing):
                await closing
        except BaseException as error:
            log.warning("closing failed", exc_info=error)
            first = first or error
    if first is not None:
        raise first
