"""The side panel: what there is to do, what was changed, what runs in the background."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from agent_cli.controller.wording import number_of
from agent_cli.frontends.tui.ink import FAINT, MUTED
from agent_cli.frontends.tui.modals.sheet import Part, Prose, Sheet, Space
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import visible

if TYPE_CHECKING:
    from agent_cli.core.display import TodoItem

_SIGNS = {
    "completed": ("☑ ", "$text-success", MUTED),
    "in_progress": ("▶ ", "$accent", "bold"),
    "pending": ("☐ ", "", ""),
}
_MAX_CHARS = 200


class ChangedFile(NamedTuple):
    """How many lines of a file were added and removed."""

    added: int = 0
    removed: int = 0


@dataclass(frozen=True)
class Overview:
    """What the panel tells."""

    todo: "Sequence[TodoItem]" = ()
    files: Mapping[str, ChangedFile] = field(default_factory=dict)
    jobs: Sequence[tuple[str, str]] = ()
    """Each background job: the command, and its state."""


class Panel(Sheet):
    """Draws an `Overview`; a new one is drawn in place, without layout."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(tuple(_parts(Overview())), id=id)
        self._told = Overview()

    def tell(self, overview: Overview) -> None:
        if overview == self._told:
            return
        self._told = overview
        self._parts = tuple(_parts(overview))
        self._wrapped_at = -1
        if self.display:
            self.on_resize()
            self.refresh()


def _parts(overview: Overview) -> Iterator[Part]:
    done = sum(item.status == "completed" for item in overview.todo)
    figure = number_of(done, len(overview.todo)) if overview.todo else ""
    yield from _list(tr("Todo"), figure, tr("nothing yet"), map(_todo, overview.todo))
    yield Space()
    files = (_file(path, changed) for path, changed in overview.files.items())
    yield from _list(tr("Changed files"), str(len(overview.files) or ""), tr("none yet"), files)
    yield Space()
    jobs = (
        Content.assemble(_plain(command), (f"  {_plain(state)}", MUTED))
        for command, state in overview.jobs
    )
    yield from _list(tr("Background"), str(len(overview.jobs) or ""), tr("nothing running"), jobs)


def _list(title: str, figure: str, nothing: str, items: Iterable[Content]) -> Iterator[Part]:
    yield Prose(Content.assemble((title, "bold"), (f"  {figure}" if figure else "", MUTED)))
    yield from map(Prose, list(items) or [Content.styled(nothing, FAINT)])


def _todo(item: "TodoItem") -> Content:
    sign, colour, ink = _SIGNS[item.status]
    return Content.assemble((sign, colour), (_plain(item.text), ink))


def _file(path: str, changed: ChangedFile) -> Content:
    removed = (f" −{changed.removed}", "$text-error")
    return Content.assemble(_plain(path), (f"  +{changed.added}", "$text-success"), removed)


def _plain(text: str) -> str:
    return visible(text[:_MAX_CHARS], one_line=True)
