"""A list of sessions to resume: searched as you type, with a preview of each."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from agent_cli.controller.wording import sentences
from agent_cli.core.errors import UserError
from agent_cli.core.log.entries import Entry, MessageAdded
from agent_cli.core.log.history import path
from agent_cli.core.messages import AssistantMessage, UserMessage, text_of
from agent_cli.frontends.tui.guarded_app import run_in_background
from agent_cli.frontends.tui.modals.line import Line
from agent_cli.frontends.tui.modals.sheet import Part, Prose, Sheet, SheetRow
from agent_cli.launch_options import Resume
from agent_cli.lib.dates import ago
from agent_cli.lib.language import mark, tr, trn
from agent_cli.safety.sanitise import visible
from agent_cli.storage.session_index import SessionInfo
from agent_cli.storage.session_store import Sessions

_MAX_SESSIONS = 200
_MAX_PREVIEW_MESSAGES = 4
"""Messages a look into a session shows."""
_MAX_CHARS = 300
_HINT = mark("enter resume · ctrl+f fork · tab all folders · esc close")


class SessionsModal(ModalScreen[Resume | None]):
    """Ends with the session to resume."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", show=False),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("pagedown", "move(8)", show=False, priority=True),
        Binding("pageup", "move(-8)", show=False, priority=True),
        Binding("enter", "choose", show=False, priority=True),
        Binding("ctrl+f", "fork", show=False, priority=True),
        Binding("tab", "everywhere", show=False, priority=True),
    ]
    AUTO_FOCUS = "Line"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (80, "-wide")]  # noqa: RUF012 - as declared
    VERTICAL_BREAKPOINTS = [(0, "-short"), (26, "-tall")]  # noqa: RUF012 - as declared

    def __init__(
        self, sessions: Sessions, workspace: str, *, current: str = "", words: str = ""
    ) -> None:
        super().__init__()
        self._sessions = sessions
        self._workspace: str | None = workspace
        self._here = workspace
        self._current = current
        self._words = words
        self._found: Sequence[SessionInfo] = ()
        self._list = OptionList(id="sessions")
        self._list.can_focus = False
        self._look = Sheet((), id="look")

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content.styled(tr("Sessions"), "bold")
            line = Line(tr("Search"))
            line.value = self._words
            yield line
            yield self._list
            yield self._look
            yield Static(Content(tr(_HINT)), classes="hint", markup=False)

    def on_mount(self) -> None:
        self._search()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._words = event.value
        self._search()

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        run_in_background(self, self._show, tr("The session could not be read"), group="look")

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_choose()

    def action_move(self, by: int) -> None:
        if self._found:
            at = (self._list.highlighted or 0) + by
            self._list.highlighted = max(0, min(at, len(self._found) - 1))

    def action_choose(self) -> None:
        self._end(fork=False)

    def action_fork(self) -> None:
        self._end(fork=True)

    def action_everywhere(self) -> None:
        """All directories, or this one again."""
        self._workspace = None if self._workspace else self._here
        self._search()

    def _end(self, *, fork: bool) -> None:
        if (info := self._chosen) is not None:
            self.dismiss(Resume(info.id, fork=fork))

    @property
    def _chosen(self) -> SessionInfo | None:
        at = self._list.highlighted
        return self._found[at] if at is not None and at < len(self._found) else None

    def _search(self) -> None:
        run_in_background(self, self._fill, tr("Searching sessions failed"), group="search")

    async def _fill(self) -> None:
        words, workspace = self._words, self._workspace
        index = self._sessions.index

        def look_up() -> Sequence[SessionInfo]:
            if words.strip():
                return index.search(words, workspace, _MAX_SESSIONS)
            return index.listing(workspace, _MAX_SESSIONS)

        try:
            listed = await asyncio.to_thread(look_up)
        except UserError as error:
            self._look.show([Prose(Content(sentences(error.message, error.hint)))])
            return
        self._found = found = [info for info in listed if info.id != self._current]
        now = time.time()
        self._list.clear_options()
        self._list.add_options([Option(_line(info, now, self._here)) for info in found])
        if found:
            self._list.highlighted = 0
        else:
            nothing = tr("No sessions in this directory (Tab shows others).")
            nothing = nothing if workspace else tr("No sessions yet.")
            self._look.show([Prose(Content.styled(nothing, "dim"))])

    async def _show(self) -> None:
        info = self._chosen
        if info is None:
            return
        try:
            entries = await asyncio.to_thread(self._sessions.read, info.id)
        except UserError as error:
            self._look.show([Prose(Content(error.message))])
            return
        self._look.show(list(_parts(info, entries)))


def _line(info: SessionInfo, now: float, here: str) -> Content:
    """What the session is about; when it was; where, if elsewhere; the words searched for."""
    facts = [ago(info.updated, now), trn("{n:,} turn", "{n:,} turns", info.turns)]
    if info.workspace != here:
        facts.append(info.workspace)
    line = Content.assemble(
        visible(info.name, one_line=True),
        Content.styled(f"  {visible(' · '.join(facts), one_line=True)}", "dim"),
    )
    if not info.snippet:
        return line
    parts = info.snippet.replace("\x03", "\x02").split("\x02")
    shown = [
        Content.styled(visible(part, one_line=True), "$accent" if number % 2 else "dim")
        for number, part in enumerate(parts)
    ]
    return Content.assemble(line, "\n    ", *shown)


def _parts(info: SessionInfo, entries: Sequence[Entry]) -> Iterator[Part]:
    """The latest messages, and what the session is."""
    you, agent = Content.styled(tr("you"), "$accent"), Content.styled("agent", "dim")
    spoken: list[tuple[Content, str]] = []
    for entry in path(entries):
        message = entry.body.message if isinstance(entry.body, MessageAdded) else None
        if isinstance(message, UserMessage) and message.origin == "person":
            spoken.append((you, text_of(message.content)))
        elif isinstance(message, AssistantMessage) and message.text:
            spoken.append((agent, message.text))
    for who, text in spoken[-_MAX_PREVIEW_MESSAGES:]:
        line = visible(" ".join(text[:_MAX_CHARS].split()), one_line=True)
        yield SheetRow(who, Content(line), 8)
    cost = "" if info.cost is None else f" · ${info.cost:.2f}"
    facts = f"{info.id} · {visible(info.model, one_line=True)}{cost}"
    yield SheetRow(Content.styled(tr("session"), "dim"), Content.styled(facts, "dim"), 8)
