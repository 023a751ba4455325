"""Messages queued for after the running turn, shown above the prompt."""

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget

from agent_cli.frontends.tui.ink import FAINT
from agent_cli.lib.language import mark, tr
from agent_cli.safety.sanitise import clean

_MAX_SHOWN = 3
_HINT = mark("esc edit · enter send now")


class QueueLine(Widget):
    """The queue, oldest first. Empty, it takes no room."""

    messages: reactive[tuple[str, ...]] = reactive((), layout=True)

    def watch_messages(self, messages: tuple[str, ...]) -> None:
        self.set_class(bool(messages), "-waiting")

    def render(self) -> Content:
        return render_queue(self.messages, self.content_size.width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return min(len(self.messages), _MAX_SHOWN + 1)


def render_queue(messages: tuple[str, ...], width: int) -> Content:
    """A line for each of the last messages, the keys beside the last one."""
    shown = messages[-_MAX_SHOWN:]
    words = (" ".join(clean(text).split()) for text in shown)
    queued = (Content.assemble(("⏎ ", "$accent"), text) for text in words)
    lines = [each.truncate(width, ellipsis=True) for each in queued]
    if hidden := len(messages) - len(shown):
        lines.insert(0, Content(tr("⋯ {n} more", n=hidden)).truncate(width, ellipsis=True))
    hint = tr(_HINT)
    if lines and (room := width - lines[-1].cell_length - cell_len(hint)) >= 3:
        lines[-1] = Content.assemble(lines[-1], " " * room, (hint, FAINT))
    return Content("\n").join(lines)
