"""A text edited in the user's own editor, while the app steps aside."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.app import App

from agent_cli.frontends.shared.external_editor import edit_text


async def edit_outside(app: App[object], text: str) -> str | None:
    """The text as the editor left it; None if the editor failed.

    The session continues meanwhile; only the drawing waits, or it would draw over the editor.
    """
    return await edit_text(text, _aside(app), ".md")


@asynccontextmanager
async def _aside(app: App[object]) -> AsyncIterator[None]:
    with app.batch_update(), app.suspend():
        yield
