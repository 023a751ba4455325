"""The transcript with the side panel beside it, or in its place."""

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal

from agent_cli.frontends.tui.panel import Panel
from agent_cli.frontends.tui.transcript import Transcript

NARROW_WIDTH = 90
"""Below this there is no room for both."""


class Body(Horizontal):
    """Everything above the prompt; the panel is hidden until somebody wants it."""

    def __init__(self, transcript: Transcript, panel: Panel, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.transcript = transcript
        self.panel = panel
        panel.display = False

    def compose(self) -> ComposeResult:
        yield from (self.transcript, self.panel)

    def toggle_panel(self) -> None:
        self.panel.display = not self.panel.display
        self._fit(self.size.width)

    def on_resize(self, event: events.Resize) -> None:
        self._fit(event.size.width)

    def _fit(self, width: int) -> None:
        self.panel.set_class(width < NARROW_WIDTH, "-whole")
        self.transcript.display = not (width < NARROW_WIDTH and self.panel.display)
