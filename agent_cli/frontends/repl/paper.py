"""Where finished things are printed, each once and for good."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.markdown import Markdown

MAX_WIDTH = 100
"""Lines of prose are not wider than this: longer ones are hard to read."""
_BLANK = re.compile(r"(?:\x1b\[[\d;]*m|\s)*")


class Paper:
    """Turns renderables into text; holds it back while something must stay in view."""

    def __init__(
        self, write: Callable[[str], None], width: Callable[[], int], *, is_flat: bool = False
    ) -> None:
        self.is_flat = is_flat
        """No styles, no wrapping: a reader or a pipe wants lines as they are."""
        self._write = write
        self._width = width
        self._held: list[str] = []
        self._holders = 0

    def put(self, *things: RenderableType) -> None:
        """Print one under the other."""
        text = "".join(self.render(thing) for thing in things)
        if self._holders:
            self._held.append(text)
        elif text:
            self._write(text)

    def render(self, thing: RenderableType, width: int | None = None) -> str:
        """A renderable as text with styles, ending with a line break."""
        usual = self.width if isinstance(thing, Markdown) else self._width()
        console = Console(
            file=io.StringIO(),
            force_terminal=not self.is_flat,
            no_color=True if self.is_flat else None,
            width=width or max(20, usual),
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
        )
        with console.capture() as captured:
            console.print(thing, soft_wrap=self.is_flat)
        text = captured.get()
        return _trim(text) if isinstance(thing, Markdown) else text

    @property
    def width(self) -> int:
        """Cells for prose."""
        return min(self._width(), MAX_WIDTH)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Print nothing meanwhile; it comes when this is over."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if not self._holders and self._held:
                text, self._held = "".join(self._held), []
                self._write(text)


def _trim(text: str) -> str:
    """Without the blank lines that Rich puts around some kinds of blocks: we put our own."""
    lines = text.split("\n")
    while lines and _BLANK.fullmatch(lines[0]):
        lines.pop(0)
    while lines and _BLANK.fullmatch(lines[-1]):
        lines.pop()
    return "\n".join(lines) + "\n" if lines else ""
