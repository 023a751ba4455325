"""The line that says that the agent is at work."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from agent_cli.controller.wording import duration, rough
from agent_cli.frontends.shared.signs import EMOJI
from agent_cli.frontends.tui.styled_lines import Line, Span, crop
from agent_cli.lib.language import tr

_FRAMES_A_SECOND = 10


class WorkingLine(Widget):
    """A spinner of fixed width, the time and the tokens; a tick draws one line and no more."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"working--spinner"}
    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    def __init__(
        self,
        *,
        reduced_motion: bool = False,
        clock: Callable[[], float] = time.monotonic,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._still = reduced_motion
        self._clock = clock
        self._started: float | None = None
        self._ticking: Timer | None = None
        self._is_waiting = False
        self._has_queue = False
        self._tokens = 0

    def start(self) -> None:
        self._started = self._clock()
        self._tokens = 0
        self._draw()

    def update(self, *, tokens: int) -> None:
        """How many tokens there were; drawn with the next tick."""
        self._tokens = tokens

    def set_waiting(self, *, waiting: bool) -> None:
        """The user is asked, or has answered: hold still for as long as that takes."""
        self._is_waiting = waiting
        self._draw()

    def set_queued(self, *, queued: bool) -> None:
        """Whether Esc takes a queued message back; drawn with the next tick."""
        self._has_queue = queued

    def stop(self) -> None:
        """Be empty again."""
        self._started = None
        self._is_waiting = False
        self._draw()

    def text(self) -> str:
        """What the line says, without the spinner."""
        if self._started is None:
            return ""
        if self._is_waiting:
            return tr("waiting for you")
        parts = [tr("working"), duration(self._clock() - self._started, tenths=False)]
        if self._tokens:
            parts.append(tr("{count} tokens", count=rough(self._tokens)))
        key = tr("ctrl+c interrupts") if self._has_queue else tr("esc interrupts")
        return f" {EMOJI.dot} ".join([*parts, key])

    def on_mount(self) -> None:
        every = 1.0 if self._still else 1 / _FRAMES_A_SECOND
        self._ticking = self.set_interval(every, self.refresh, pause=self._started is None)

    def render_line(self, y: int) -> Strip:
        base = self.rich_style
        if self._started is None or y:
            return Strip.blank(self.size.width, base)
        spans: list[Span] = [("  ", None), *self._spinner(), (self.text(), None)]
        line = Line(crop(spans, self.size.width, EMOJI.ellipsis))
        return line.crop_extend(0, self.size.width, base).apply_style(base)

    def _spinner(self) -> list[Span]:
        if self._still or self._is_waiting or self._started is None:
            return []
        frame = int((self._clock() - self._started) * _FRAMES_A_SECOND)
        sign = EMOJI.spinner[frame % len(EMOJI.spinner)]
        return [(f"{sign} ", self.get_component_rich_style("working--spinner", partial=True))]

    def _draw(self) -> None:
        if self._ticking is not None:
            rests = self._started is None or self._is_waiting
            self._ticking.pause() if rests else self._ticking.resume()
        self.refresh()
