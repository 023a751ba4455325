"""A question of the program's own: lines to read, and answers to choose from."""

from dataclasses import replace

from textual.content import Content

from agent_cli.controller.answers import AnswerOption
from agent_cli.controller.view import Menu, MenuRow
from agent_cli.frontends.shared.typed_ahead import TypedAhead
from agent_cli.frontends.tui.ink import MUTED
from agent_cli.frontends.tui.modals.guarded_modal import GuardedModal
from agent_cli.frontends.tui.modals.sheet import Part, Prose, SheetRow, Space

_STYLES = {"normal": "", "muted": MUTED, "warning": "$text-warning"}
_NOTE_COLUMN = 40


class MenuModal(GuardedModal[str]):
    """Ends with the id of an answer; one that is disabled can be given once all has been seen."""

    def __init__(self, menu: Menu, *, guard: TypedAhead | None = None) -> None:
        self._menu = menu
        super().__init__(menu.heading, tuple(map(_part, menu.rows)), menu.options, guard=guard)

    def end_seen(self) -> None:
        self.update_answers([replace(each, disabled=False) for each in self._menu.options])

    def give(self, answer: AnswerOption) -> None:
        self.dismiss(answer.id)

    def leave(self) -> None:
        self.dismiss(self._menu.leave)


def _part(row: MenuRow) -> Part:
    style = _STYLES[row.emphasis]
    if row.note:
        return SheetRow(Content(row.text), Content.styled(row.note, style), _NOTE_COLUMN)
    return Prose(Content.styled(row.text, style)) if row.text else Space()
