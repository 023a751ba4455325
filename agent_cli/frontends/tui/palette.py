"""All commands, searched by a few letters."""

from functools import partial

from rich.align import Align
from rich.text import Text
from textual.command import CommandList, CommandPalette
from textual.widgets.option_list import Option

from agent_cli.lib.language import tr


class Palette(CommandPalette):
    """Textual's palette in the user's language."""

    def __init__(self) -> None:
        super().__init__(id="--command-palette", placeholder=tr("Search commands…"))

    def _start_no_matches_countdown(self, search_value: str) -> None:
        self._stop_no_matches_countdown()
        self._no_matches_timer = self.set_timer(
            self._NO_MATCHES_COUNTDOWN, partial(self._tell_none, search_value)
        )

    def _tell_none(self, search_value: str) -> None:
        if search_value:
            text = Align.center(Text(tr("No matches"), style="not bold"))
            none = Option(text, disabled=True, id=self._NO_MATCHES)
            self.query_one(CommandList).add_option(none)
        self._list_visible = bool(search_value)
