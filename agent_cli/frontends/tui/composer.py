"""The prompt with what belongs to it: queue above, completions over, status line below."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import TextArea

from agent_cli.controller.slash_command import Command, matching
from agent_cli.frontends.shared.file_index import FileIndex
from agent_cli.frontends.shared.typed import MENTIONED, mention
from agent_cli.frontends.tui.completion import Completing, Completion
from agent_cli.frontends.tui.guarded_app import run_in_background
from agent_cli.frontends.tui.prompt import Prompt
from agent_cli.frontends.tui.queue_line import QueueLine
from agent_cli.frontends.tui.status import StatusLine
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import clean

_STALE = 15.0
_MOVES = {"up": -1, "down": 1, "pageup": -5, "pagedown": 5}


class Composer(Vertical):
    """Wires prompt, completions and history search together; messages go up to the app."""

    def __init__(
        self,
        root: Path,
        *,
        commands: Callable[[], Sequence[Command]],
        history: Callable[[], Sequence[str]],
    ) -> None:
        super().__init__()
        self.queue = QueueLine()
        self.completion = Completion()
        self.prompt = Prompt(history)
        self.status = StatusLine()
        self.files = FileIndex(root)
        self._commands = commands
        self._history = history
        self._searched_from: str | None = None
        self._closed_at: str | None = None
        self._loaded_at = float("-inf")
        self._is_loading = False

    def compose(self) -> ComposeResult:
        yield from (self.queue, self.completion, self.prompt, self.status)

    def on_mount(self) -> None:
        self.prompt.menu = self
        self.prompt.focus()

    @property
    def is_open(self) -> bool:
        return self.completion.is_open or self._searched_from is not None

    async def press(self, key: str) -> bool:
        """A key while the list is open."""
        if key in _MOVES:
            self.completion.move(_MOVES[key])
        elif key == "escape":
            self._close()
        else:
            if (query := self._offer()) is not None:
                await self._offer_files(query)
            return self._choose(sends=key == "enter")
        return True

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.prompt.set_class(self.prompt.kind == "shell", "-shell")
        self._offer_soon()

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        event.stop()
        if self.is_open:
            self._offer_soon()

    def on_prompt_search_wanted(self, event: Prompt.SearchWanted) -> None:
        event.stop()
        self._searched_from = self.prompt.text
        self.completion.show(tuple(self._find_earlier(self.prompt.text)))

    def on_completion_clicked(self, event: Completion.Clicked) -> None:
        event.stop()
        self._choose(sends=False)
        self.prompt.focus()

    def offer_again(self) -> None:
        """What there is to offer has changed."""
        if self.prompt.text:
            self._offer_soon()

    def _offer_soon(self) -> None:
        """Offer without keeping the keys waiting for files to be found."""
        if (query := self._offer()) is not None:
            find = partial(self._offer_files, query)
            run_in_background(self, find, tr("Finding files failed"), group="offer")

    def _offer(self) -> str | None:
        """Show what could complete the text up to the caret; returns a query for files, if any."""
        text = self.prompt.text
        if self._searched_from is not None:
            self.completion.show(tuple(self._find_earlier(text)))
            return None
        if text != self._closed_at:
            self._closed_at = None
        line = self._line_to_caret()
        if self._closed_at is not None:
            self.completion.close()
        elif re.fullmatch(r"/\S*", line) and self.prompt.cursor_location[0] == 0:
            self.completion.show(tuple(self._matching_commands(line[1:])))
        elif found := MENTIONED.search(line):
            return found[2]
        else:
            self.completion.close()
        return None

    async def _offer_files(self, query: str) -> None:
        if time.monotonic() - self._loaded_at > _STALE and not self._is_loading:
            self._is_loading = True
            run_in_background(self, self._load, tr("Listing files failed"), group="load")
        if not self.files.is_loaded:
            self.completion.show((Completing(tr("listing files …"), ""),))
            return
        names = await self.files.find(query)
        found = MENTIONED.search(self._line_to_caret())
        if found and found[2] == query and self._closed_at is None:
            self.completion.show(tuple(Completing(name, mention(name)) for name in names))

    async def _load(self) -> None:
        try:
            await self.files.load()
        except OSError as error:
            self.notify(tr("Files can't be listed: {error}", error=error), markup=False)
        finally:
            self._is_loading = False
            self._loaded_at = time.monotonic()
        self._offer_soon()

    def _matching_commands(self, typed: str) -> Iterator[Completing]:
        for command in matching(self._commands(), typed):
            label = f"/{command.name} {tr(command.argument)}".rstrip()
            more = command.argument.startswith("<")
            yield Completing(label, f"/{command.name} ", tr(command.help), more)

    def _find_earlier(self, text: str) -> Iterator[Completing]:
        """Earlier prompts that contain all words of the text, the latest first; or that none do."""
        words = text.lower().split()
        found = [e for e in reversed(self._history()) if all(word in e.lower() for word in words)]
        for entry in found:
            yield Completing(" ".join(clean(entry).split())[:300], entry)
        if not found:
            yield Completing(tr("no earlier prompt matches"), "")

    def _choose(self, *, sends: bool) -> bool:
        """Put the chosen entry into the prompt; False: the key means what it always means."""
        chosen = self.completion.current
        if self._searched_from is not None:
            self._searched_from = None
            self.completion.close()
            if chosen is not None and chosen.value:
                self._put(chosen.value, at_start=True)
            return True
        if chosen is None or not chosen.value:
            return False
        if not chosen.value.startswith("/"):
            self._put(chosen.value + " ")
        elif sends and self.prompt.text.strip() == chosen.value.strip():
            self.completion.close()
            return False
        else:
            self._put(chosen.value, at_start=True)
            if sends and not chosen.takes_more:
                self.prompt.submit()
        return True

    def _put(self, value: str, *, at_start: bool = False) -> None:
        self.completion.close()
        if at_start:
            self.prompt.replace_all(value)
        else:
            row, column = self.prompt.cursor_location
            found = MENTIONED.search(self._line_to_caret())
            start = (row, found.start() if found else column)
            self.prompt.put(value, start, (row, column))
        self._closed_at = self.prompt.text

    def _close(self) -> None:
        if self._searched_from is not None:
            self.prompt.replace_all(self._searched_from)
            self._searched_from = None
        self._closed_at = self.prompt.text
        self.completion.close()

    def _line_to_caret(self) -> str:
        row, column = self.prompt.cursor_location
        return self.prompt.document.get_line(row)[:column]
