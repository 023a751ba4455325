"""The side panel: what there is to do, what was changed, what runs in the background."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content
from textual.geometry import Size

from agent_cli.controller.wording import number_of
from agent_cli.frontends.tui.ink import FAINT, MUTED
from agent_cli.frontends.tui.modals.sheet import Part, Prose, Sheet, Space
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import visible

if TYPE_CHECKING:
    from agent_cli.core.display import TodoItem

_SIGNS = {"completed": ("☑ ", "$text-success"), "in_progress": ("▶ ", "$accent")}
_OPEN = ("☐ ", "")
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
        """Show this from now on."""
        if overview == self._told:
            return
        self._told = overview
        self._parts = tuple(_parts(overview))
        self._wrapped_at = -1
        if self.display:
            width = self.scrollable_content_region.width
            self.virtual_size = Size(width, len(self._wrap(width)))
            self.refresh()


def _parts(overview: Overview) -> Iterator[Part]:
    done = sum(item.status == "completed" for item in overview.todo)
    yield _heading(tr("Todo"), number_of(done, len(overview.todo)) if overview.todo else "")
    yield from map(_todo, overview.todo)
    if not overview.todo:
        yield _nothing(tr("nothing yet"))
    yield Space()
    yield _heading(tr("Changed files"), str(len(overview.files) or ""))
    for path, changed in overview.files.items():
        yield _file(path, changed)
    if not overview.files:
        yield _nothing(tr("none yet"))
    yield Space()
    yield _heading(tr("Background"), str(len(overview.jobs) or ""))
    for command, standing in overview.jobs:
        yield Prose(Content.assemble(_plain(command), (f"  {_plain(standing)}", MUTED)))
    if not overview.jobs:
        yield _nothing(tr("nothing running"))


def _heading(title: str, figure: str) -> Part:
    return Prose(Content.assemble((title, "bold"), (f"  {figure}" if figure else "", MUTED)))


def _nothing(text: str) -> Part:
    return Prose(Content.assemble((text, FAINT)))


def _todo(item: "TodoItem") -> Part:
    sign, style = _SIGNS.get(item.status, _OPEN)
    ink = {"completed": MUTED, "in_progress": "bold"}.get(item.status, "")
    return Prose(Content.assemble((sign, style), (_plain(item.text), ink)))


def _file(path: str, changed: ChangedFile) -> Part:
    return Prose(
        Content.assemble(
            _plain(path),
            (f"  +{changed.added}", "$text-success"),
            (f" −{changed.removed}", "$text-error"),
        )
    )


def _plain(text: str) -> str:
    return visible(text[:_MAX_CHARS], one_line=True)
