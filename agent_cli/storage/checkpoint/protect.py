"""Keeps what a call is known to destroy and what is not kept anyway: ignored, large, outside."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from agent_cli.core.undo.checkpoint import PathChange, PathState, UpcomingCall
from agent_cli.lib.language import tr, trn
from agent_cli.lib.text import size
from agent_cli.storage.checkpoint.aside import Aside, holds, remove
from agent_cli.storage.checkpoint.blobs import SMALL_BYTES, Blobs, allocated_bytes
from agent_cli.storage.checkpoint.manifest import Manifest
from agent_cli.storage.checkpoint.states import keep, lstat
from agent_cli.storage.checkpoint.workspace import Workspace

MAX_COPIED = 5_000
"""Files that are copied although they will be deleted; of more, a second name is kept."""


@dataclass
class Protection:
    """What was done for one call."""

    lost: tuple[str, ...] = ()
    """What the call would destroy for good, in words."""
    links: dict[str, PathState] = field(default_factory=dict)
    """Files that were given a second name, by path, with that name."""

    def settle(self, changes: Sequence[PathChange]) -> list[PathChange]:
        """The changes, with those files that are gone found under their second names; the others
        lose them again."""
        settled = []
        for change in changes:
            linked = self.links.get(change.path)
            if linked is not None and _has_come_alone(linked):
                before = change.before._replace(aside=linked.aside)
                change = PathChange(change.path, before, change.after, change.doubt)
                del self.links[change.path]
            settled.append(change)
        for linked in self.links.values():
            remove(linked.aside)
        return settled


@dataclass(frozen=True)
class _Risk:
    manifest: Manifest
    path: str
    state: PathState
    is_deleted: bool


def protect(
    call: UpcomingCall,
    workspace: Workspace,
    outside: Manifest,
    blobs: Blobs,
    aside: Aside,
    *,
    room: int,
    make_room: Callable[[int], None],
    prefix: str,
) -> Protection:
    """Keep what is not kept yet of all that the call deletes or overwrites."""
    if call.prunes:
        workspace.keep_what_git_has(is_going=False)
    for manifest in (workspace.manifest, outside):
        for path in _find_devices(manifest, call.deletes):
            workspace.note(
                tr("{path} cannot be restored by undo: it is a socket or a device.", path=path)
            )
    risks = [
        risk
        for manifest in (workspace.manifest, outside)
        for risk in _risks(manifest, call.deletes, (*call.strikes, *call.writes))
    ]
    if not risks:
        return Protection()
    needed = sum(_weight(risk) for risk in risks)
    if needed > room:
        # Everything older would have to go, and it would still not be kept.
        text = tr("{size} is more than the space set aside for undo", size=size(needed))
        return Protection((text,))
    make_room(needed)
    if any(workspace.is_own_repository(risk.path) for risk in risks):
        workspace.keep_what_git_has()
    reasons: dict[str, int] = {}
    links: dict[str, PathState] = {}
    for number, risk in enumerate(risks):
        state = _keep(risk, blobs, aside, f"{prefix}-{number}", few=len(risks) <= MAX_COPIED)
        if state.why and not state.is_kept:
            reasons[state.why] = reasons.get(state.why, 0) + 1
        if state.aside:
            links[risk.path] = state
        risk.manifest.put(risk.path, state._replace(aside=""))
    lost = [
        trn("{n:,} file: {why}", "{n:,} files: {why}", count, why=why)
        for why, count in reasons.items()
    ]
    return Protection(tuple(lost), links)


def _risks(manifest: Manifest, deletes: Iterable[str], strikes: Iterable[str]) -> Iterable[_Risk]:
    goes, changes = _Below(deletes), _Below(strikes)
    if not (goes or changes):
        return
    for path, (_, state) in list(manifest.seen.items()):
        if state.kind in ("file", "repository") and not state.content:
            is_deleted = goes.holds(path)
            if is_deleted or (changes.holds(path) and state.kind == "file"):
                yield _Risk(manifest, path, state, is_deleted)


def _find_devices(manifest: Manifest, deletes: Iterable[str]) -> Iterable[str]:
    """What goes and cannot be kept in any way."""
    goes = _Below(deletes)
    for path, (_, state) in manifest.seen.items() if goes else ():
        if state.kind == "other" and not state.is_kept and goes.holds(path):
            yield path


class _Below:
    """Places, with all that is below them."""

    def __init__(self, places: Iterable[str]) -> None:
        self._exact = frozenset(places)
        self._prefixes = tuple(each.rstrip("/") + "/" for each in self._exact)

    def __bool__(self) -> bool:
        return bool(self._exact)

    def holds(self, path: str) -> bool:
        return path in self._exact or path.startswith(self._prefixes)


def _weight(risk: _Risk) -> int:
    if risk.state.kind == "file":
        status = lstat(risk.path)
        return allocated_bytes(status) if status else 0
    found = (lstat(f"{at}/{name}") for at, _, names in os.walk(risk.path) for name in names)
    return sum(each.st_size for each in found if each)


def _keep(risk: _Risk, blobs: Blobs, aside: Aside, name: str, *, few: bool) -> PathState:
    state, status = risk.state, lstat(risk.path)
    if status is None:
        return state
    if state.kind == "repository":
        try:
            return state._replace(content=aside.add_tree(risk.path, name))
        except OSError as error:
            return state._replace(why=error.strerror or str(error))
    is_small = few and status.st_size <= SMALL_BYTES
    if risk.is_deleted and not is_small and status.st_nlink == 1:
        second = aside.link(risk.path, name)
        if second is not None:
            return state._replace(aside=second, why="")
    return keep(blobs, risk.path, status, max_bytes=blobs.room)


def _has_come_alone(linked: PathState) -> bool:
    """Whether the second name is the only one left, and the file untouched."""
    status = lstat(linked.aside)
    return status is not None and status.st_nlink == 1 and holds(linked.aside, linked)
