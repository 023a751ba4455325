"""The prompt: where the user writes to the agent."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.actions import SkipAction
from textual.app import SuspendNotSupported
from textual.geometry import Offset, Region
from textual.message import Message
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from agent_cli.controller.queued_message import Kind, kind_of
from agent_cli.frontends.shared.chips import Chips, deserves_chip
from agent_cli.frontends.shared.keys import actions
from agent_cli.frontends.shared.typed import clean_paste, fit
from agent_cli.frontends.tui.guarded_app import run_in_background
from agent_cli.frontends.tui.suspended_editor import edit_outside
from agent_cli.lib.language import tr

if TYPE_CHECKING:
    from agent_cli.frontends.tui.composer import Composer

_ACTIONS = actions("prompt")
_MENU = {"up", "down", "tab", "enter", "escape", "pageup", "pagedown"}
_MAX_EXPANDED_CHARS = 200_000


class Prompt(TextArea):
    """Enter sends. Shift+Enter, Alt+Enter, Ctrl+J or a backslash before Enter make a new line.

    A long paste becomes a chip; Ctrl+E beside it unfolds it, Backspace removes it whole.
    Up and Down leave the text at its ends for the history, Ctrl+R searches it, Ctrl+G opens the
    editor, Ctrl+Z and Ctrl+Y undo and redo, Ctrl+C copies a selection or clears.
    """

    class Submitted(Message):
        """The user sends something."""

        def __init__(self, text: str, kind: Kind) -> None:
            super().__init__()
            self.text = text
            """All of it, chips unfolded, the mark at the start included."""
            self.kind: Kind = kind
            """"shell" after a `!`, "command" after a `/`."""

    class SubmittedEmpty(Message):
        """Enter on an empty prompt: send what waits."""

    class Escaped(Message):
        """Esc, with nothing of the prompt's own to close."""

    class CancelledEmpty(Message):
        """Ctrl+C on an empty prompt: interrupt, or leave."""

    class SearchWanted(Message):
        """Ctrl+R: search the history."""

    def __init__(self, history: Callable[[], Sequence[str]]) -> None:
        self._chips = Chips()
        placeholder = tr("Ask, or / for commands")
        super().__init__(placeholder=placeholder, highlight_cursor_line=False, compact=True)
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self.menu: Composer | None = None
        """It gets the keys of its list first, while that is open."""
        self._past = history
        self._walked: tuple[str, ...] = ()
        self._back = 0
        self._draft = ""

    @property
    def kind(self) -> Kind:
        """What Enter would send, by the first character."""
        return kind_of(self.document.get_line(0))

    @property
    def draft(self) -> str:
        """What is written and not sent, chips unfolded."""
        return self._chips.expand(self.text)

    def replace_all(self, text: str) -> None:
        """Put a text in place of what is there; undo brings that back."""
        self.history.checkpoint()
        result = self.replace(fit(text), (0, 0), self.document.end)
        self.history.checkpoint()
        self.move_cursor(result.end_location)

    def prepend(self, text: str) -> None:
        """Put a text before what is there, on lines of its own: a message taken back."""
        rest = self.text
        self.replace_all(f"{text}\n{rest}" if rest.strip() else text)

    def restore(self, draft: str) -> None:
        """Put a draft before what was written since then."""
        self.prepend(self._chips.add(draft) if deserves_chip(draft) else draft)

    def receive(self, key: str, text: str = "") -> None:
        """Take what was typed elsewhere and meant for the prompt, as if it was typed here."""
        match key:
            case "paste":
                self._take_paste(text)
            case "enter":
                self.submit()
            case "escape":
                self.post_message(self.Escaped())
            case "backspace":
                self.action_delete_left()
            case _ if text.isprintable():
                self.insert(text)

    def submit(self) -> None:
        """Send what is there and start over."""
        if not self.text.strip():
            self.post_message(self.SubmittedEmpty())
            return
        self.post_message(self.Submitted(self.draft, self.kind))
        self.load_text("")
        self._chips = Chips()
        self._back = 0

    def render_lines(self, crop: Region) -> list[Strip]:
        # Layout can move the prompt without changing anything in it; the terminal's own cursor,
        # where input methods open their windows, has to follow.
        if self.has_focus:
            self.app.cursor_position = self.cursor_screen_offset
        return super().render_lines(crop)

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:  # noqa: FBT001, FBT002
        # Textual 8.2 calls this in the midst of an undo, when the caret may still stand on a line
        # that is gone, and fails; it calls it again once the caret is where it belongs.
        if self.cursor_location[0] >= self.wrapped_document.document.line_count:
            return Offset()
        return super().scroll_cursor_visible(center, animate)

    def validate_selection(self, selection: Selection) -> Selection:
        """A caret cannot stand inside a chip."""
        row, column = selection.end
        if not 0 <= row < self.document.line_count:
            return selection
        chip = self._chips.at(self.document.get_line(row), column)
        if chip is None or column in (chip.start, chip.end):
            return selection
        before = self.selection.end
        forwards = before[0] < row or (before[0] == row and before[1] <= chip.start)
        end = (row, chip.end if forwards else chip.start)
        return Selection(end if selection.is_empty else selection.start, end)

    async def _on_key(self, event: events.Key) -> None:
        if await self._handle(event):
            event.stop()
            event.prevent_default()

    async def _handle(self, event: events.Key) -> bool:
        """Whether the key was one of ours; the others are the text area's."""
        key = event.key
        menu = self.menu
        if menu and menu.is_open and key in _MENU and await menu.press(key):
            return True
        match _ACTIONS.get(key, key):
            case "send":
                self._enter()
            case "new_line":
                self._type("\n")
            case "interrupt":
                self.post_message(self.Escaped())
            case "cancel":
                self._cancel()
            case "search":
                self.post_message(self.SearchWanted())
            case "edit":
                failed = tr("Editing the prompt failed")
                run_in_background(self, self._edit_outside, failed, group="edit")
            case "expand" if self._expand():
                pass
            case "backspace" if self._remove_chip():
                pass
            case "earlier" if self.navigator.is_first_wrapped_line(self.cursor_location):
                self._walk(1)
            case "later" if self.navigator.is_last_wrapped_line(self.cursor_location):
                self._walk(-1)
            case _:
                return await self._edit(key)
        return True

    async def _edit(self, key: str) -> bool:
        """Carry out a key of the text area's own at once.

        Textual lets it climb to the app first, and what is typed right after overtakes it.
        """
        for binding in self._bindings.key_to_bindings.get(key, ()):
            if not binding.priority and await self.app.run_action(binding.action, self):
                return True
        return False

    def action_cursor_page_up(self) -> None:
        """The transcript's."""
        raise SkipAction

    def action_cursor_page_down(self) -> None:
        """The transcript's."""
        raise SkipAction

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._take_paste(event.text)

    def _take_paste(self, text: str) -> None:
        text = clean_paste(text)
        self._type(self._chips.add(text) if deserves_chip(text) else fit(text))

    def _type(self, text: str) -> None:
        self.put(text, *self.selection)

    def put(self, text: str, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Replace a part of the text; the caret goes behind it."""
        self.move_cursor(self.replace(text, start, end).end_location)

    def _enter(self) -> None:
        row, column = self.cursor_location
        if column and self.document.get_line(row)[column - 1] == "\\":
            self.put("\n", (row, column - 1), (row, column))
        else:
            self.submit()

    def _cancel(self) -> None:
        if self.selected_text:
            self.action_copy()
        elif self.text:
            self._back = 0
            self.replace_all("")
        else:
            self.post_message(self.CancelledEmpty())

    def _expand(self) -> bool:
        """Unfold the chip at the caret."""
        row, column = self.cursor_location
        chip = self._chips.at(self.document.get_line(row), column)
        if chip is None:
            return False
        if len(chip.text) > _MAX_EXPANDED_CHARS:
            text = tr("Too long to expand here. Press Ctrl+G to open your editor.")
            self.notify(text, markup=False)
            return True
        self.history.checkpoint()
        self.put(fit(chip.text), (row, chip.start), (row, chip.end))
        return True

    def _remove_chip(self) -> bool:
        row, column = self.cursor_location
        chip = self._chips.at(self.document.get_line(row), column)
        if chip is None or column != chip.end or self.selected_text:
            return False
        self.delete((row, chip.start), (row, chip.end))
        return True

    def _walk(self, step: int) -> None:
        """Step through what was asked before; the draft waits at the near end."""
        if self._back == 0:
            self._walked = tuple(self._past())
            self._draft = self.text
        back = min(max(self._back + step, 0), len(self._walked))
        if back == self._back:
            return
        self._back = back
        self.replace_all(self._walked[-back] if back else self._draft)

    async def _edit_outside(self) -> None:
        try:
            text = await edit_outside(self.app, self._chips.expand(self.text))
        except (OSError, SuspendNotSupported, ValueError) as error:
            failed = tr("The editor can't be opened: {error}", error=error)
            self.notify(failed, severity="error", markup=False)
            return
        if text is None:
            self.notify(tr("The editor failed. The prompt is unchanged."), markup=False)
        elif deserves_chip(text) and len(text) > _MAX_EXPANDED_CHARS:
            self.replace_all(self._chips.add(clean_paste(text)))
        else:
            self.replace_all(text)
