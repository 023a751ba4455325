"""Gives a session a name."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent_cli.core.errors import ModelError, UserError

if TYPE_CHECKING:
    from agent_cli.core.session import Session

log = logging.getLogger(__name__)


async def make_title(session: "Session", made: Callable[[], None]) -> None:
    """Have a cheap model find a title; without one, the session has none."""
    try:
        await session.make_title()
    except (ModelError, UserError) as error:
        log.info("no title could be made: %s", error)
    made()
