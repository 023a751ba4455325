"""The status line: the few facts of the moment, on one line that never moves anything."""

from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from agent_cli.frontends.tui.ink import FAINT
from agent_cli.frontends.tui.styled_lines import cut_middle
from agent_cli.lib.language import mark, tr
from agent_cli.safety.sanitise import visible

_BARS = "▁▂▃▄▅▆▇█"
_GAP = "   "
_MAX_NAME_CHARS = 32


@dataclass(frozen=True)
class Status:
    """What the status line tells."""

    mode: str = "default"
    model: str = ""
    sandbox: str = ""
    """The tier: "bubblewrap", "none" …"""
    branch: str = ""
    context: float | None = None
    """The share of the model's window in use, 0 to 1."""
    cost: float | None = 0.0
    """US dollars; None: the price is not known."""
    is_cost_partial: bool = False
    """Some of what was used has no known price."""
    elapsed: float | None = None
    """Seconds of the running turn."""
    tokens_per_second: float | None = None
    hint: str = mark("^P commands")


class StatusLine(Widget):
    """Draws a `Status`; a new one is drawn in place, without layout."""

    status: reactive[Status | None] = reactive(None)
    """None: nothing is known yet."""

    def render(self) -> Content:
        if self.status is None:
            return Content("")
        return render_status(self.status, self.content_size.width)


def render_status(status: Status, width: int) -> Content:
    """One line of at most `width` cells; what matters least goes first."""
    parts = _parts(status)
    line = Content(_GAP).join(parts.values())
    while len(parts) > 1 and line.cell_length > width:
        del parts[min(parts)]
        line = Content(_GAP).join(parts.values())
    if line.cell_length > width:
        return line.truncate(width, ellipsis=True)
    hint = visible(tr(status.hint), one_line=True)
    room = width - line.cell_length - cell_len(hint)
    if not hint or room < len(_GAP):
        return line
    return Content.assemble(line, " " * room, (hint, FAINT))


def _parts(status: Status) -> dict[int, Content]:
    """In the order they are read; what is kept longest has the highest number."""
    speed = status.tokens_per_second
    parts = {
        9: _mode(status.mode),
        7: Content(_short(status.model)),
        2: _sandbox(status.sandbox),
        3: Content(_short(status.branch)),
        8: _context(status.context),
        6: Content(_dollars(status)),
        5: Content(_duration(status.elapsed)),
        4: Content("" if speed is None else tr("{speed:.0f} tok/s", speed=speed)),
    }
    return {keep: part for keep, part in parts.items() if part}


def _mode(mode: str) -> Content:
    style = {"default": "$accent", "yolo": "bold $text-error"}.get(mode, "$text-warning")
    return Content.assemble((_short(mode), style), " ⇧⇥")


def _sandbox(tier: str) -> Content:
    if not tier:
        return Content("")
    missing = {"none": tr("none"), "off": tr("off")}
    style = "$text-warning" if tier in missing else ""
    return Content.assemble(tr("sandbox"), " ", (missing.get(tier) or _short(tier), style))


def _context(share: float | None) -> Content:
    if share is None:
        return Content("")
    share = min(max(share, 0.0), 1.0)
    bar = _BARS[min(int(share * len(_BARS)), len(_BARS) - 1)]
    style = "$text-error" if share >= 0.95 else "$text-warning" if share >= 0.8 else "$accent"
    return Content.assemble(tr("ctx"), " ", (bar, style), f" {share * 100:.0f} %")


def _dollars(status: Status) -> str:
    if status.cost is None:
        return "$?"
    return f"${status.cost:.2f}" + ("+?" if status.is_cost_partial else "")


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 60:
        return tr("{seconds:.0f} s", seconds=seconds)
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return tr("{minutes}:{seconds:02} min", minutes=minutes, seconds=rest)
    return tr("{hours}:{minutes:02} h", hours=minutes // 60, minutes=minutes % 60)


def _short(name: str) -> str:
    """The name on one line, shortened in the middle."""
    return cut_middle(visible(name, one_line=True), _MAX_NAME_CHARS)
