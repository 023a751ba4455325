"""Completes /commands and @files while they are typed."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Iterable, Sequence

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from agent_cli.controller.background import Background
from agent_cli.controller.slash_command import Command, matching
from agent_cli.frontends.shared.file_index import FileIndex
from agent_cli.frontends.shared.typed import MENTIONED, mention
from agent_cli.lib.language import tr

_STALE = 10.0
"""Seconds after which the names of files are read again."""


class Completing(Completer):
    """Offers commands at the start of the text, and files after an @."""

    def __init__(
        self, commands: Sequence[Command], files: FileIndex, background: Background
    ) -> None:
        self._commands = commands
        self._files = files
        self._background = background
        self._loaded_at = float("-inf")
        self._loading: asyncio.Task[None] | None = None

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Commands only; files take time."""
        text = document.text_before_cursor
        if re.fullmatch(r"/\S*", text):
            for command in matching(self._commands, text[1:]):
                label = f"/{command.name} {tr(command.argument)}".rstrip()
                yield Completion(
                    f"/{command.name} ",
                    start_position=-len(text),
                    display=label,
                    display_meta=tr(command.help),
                )

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        for completion in self.get_completions(document, complete_event):
            yield completion
        found = MENTIONED.search(document.current_line_before_cursor)
        if found is None:
            return
        await self._refresh()
        start = found.start() - len(document.current_line_before_cursor)
        for name in await self._files.find(found[2]):
            yield Completion(f"{mention(name)} ", start_position=start, display=name)

    async def _refresh(self) -> None:
        if time.monotonic() - self._loaded_at > _STALE and self._loading is None:
            self._loading = self._background.start(self._load(), "reading file names failed")
        if self._loading is not None and not self._files.is_loaded:
            await asyncio.wait([self._loading])

    async def _load(self) -> None:
        try:
            await self._files.load()
        except OSError:
            return  # without names there is nothing to offer
        finally:
            self._loading = None
            self._loaded_at = time.monotonic()
