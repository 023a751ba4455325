"""Looks at the files before and after each call that may change them, so that it can be undone."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from agent_cli.core.deciding.call_facts import gather
from agent_cli.core.deciding.gatekeeper import Gatekeeper, PermissionCheck
from agent_cli.core.deciding.rules import Facts
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.events import Event, Notice
from agent_cli.core.tool import Invocation, ToolKind
from agent_cli.core.tool_context import SessionState, ShellInfo, ToolContext
from agent_cli.core.undo.checkpoint import CheckpointOutcome, Checkpoints, Record, UpcomingCall
from agent_cli.core.undo.line_counts import count_lines
from agent_cli.core.undo.named_targets import named_targets, prunes_git
from agent_cli.core.undo.turn_receipt import FileTouched, Receipt, StillRunning, merge_files
from agent_cli.lib.language import tr
from agent_cli.lib.text import join_items
from agent_cli.lib.threads import to_the_end
from agent_cli.safety.impact import blast_radius
from agent_cli.safety.impact.impact_summary import DELETES, MODES, MOVES, OWNERS
from agent_cli.safety.reasons import because

log = logging.getLogger(__name__)

AnyInvocation = Invocation[Any]
TIMEOUT_S = 1.0
"""For finding out what a command strikes."""


@dataclass
class Checkpointer:
    """Speaks with the checkpoints for the pipeline, and knows what the turn has changed."""

    checkpoints: Checkpoints
    gatekeeper: Gatekeeper
    emit: Callable[[Event], None]
    turn: int = 0
    _touched: list[FileTouched] = field(default_factory=list)
    _told: set[str] = field(default_factory=set)

    def begin(self, turn: int) -> None:
        """A new turn: nothing is changed yet."""
        self.turn = turn
        self._touched.clear()

    def receipt(self, state: SessionState) -> Receipt:
        """What the turn has changed so far, and what runs."""
        running = [each for held in state.offering("running") for each in held.running()]
        return Receipt(
            files=merge_files(self._touched),
            running=tuple(StillRunning.model_validate(each) for each in running),
        )

    @contextlib.asynccontextmanager
    async def around(
        self, invocation: AnyInvocation, context: ToolContext, check: PermissionCheck | None
    ) -> AsyncIterator[None]:
        """Keep, run, and see what changed; whatever happens in between."""
        call = await self._upcoming(invocation, context, check)
        if call is None:
            yield
            return
        try:
            kept = await to_the_end(asyncio.to_thread(self._keep, call))
            await self._heed(kept, call, check)
            yield
        finally:
            await to_the_end(asyncio.to_thread(self._see, call, context.workspace.root))

    def _keep(self, call: UpcomingCall) -> CheckpointOutcome:
        try:
            return self.checkpoints.before(call)
        except OSError as error:
            log.warning("no checkpoint before %s: %s", call.tool, error)
            return CheckpointOutcome(lost=(error.strerror or str(error),))

    async def _upcoming(
        self, invocation: AnyInvocation, context: ToolContext, check: PermissionCheck | None
    ) -> UpcomingCall | None:
        """What is known of a call that may change files; None for one that cannot."""
        if invocation.kind is ToolKind.READONLY:
            return None
        facts = check.facts if check else None
        facts = facts or await self._facts(invocation, context)
        if facts.commands and not facts.unproven:
            return None  # it is proven to change nothing
        only_paths = all(target.kind == "path" for target in invocation.targets)
        writes = tuple(dict.fromkeys(p.real for p in facts.paths if p.access == "write"))
        is_exact = invocation.kind is ToolKind.WRITE and only_paths and bool(writes)
        deletes, strikes, touches = await _find_affected(facts, context)
        struck = (*deletes, *strikes, *touches)
        commands = [each.value for each in invocation.targets if each.kind == "command"]
        return UpcomingCall(
            call_id=context.call_id,
            turn=self.turn,
            tool=invocation.tool.display_name,
            title=invocation.title,
            paths=writes if is_exact else None,
            deletes=tuple(deletes),
            strikes=tuple(strikes),
            writes=() if is_exact else writes,
            touches=tuple(touches),
            targets=named_targets(facts, commands, context.state(ShellInfo), struck),
            prunes=prunes_git(facts.commands),
        )

    async def _facts(self, invocation: AnyInvocation, context: ToolContext) -> Facts:
        """About a command the user typed, which nobody judged."""
        shell = context.state(ShellInfo)
        trusted = self.gatekeeper.policy.trusted
        return await gather(invocation, context.workspace, shell, trusted=trusted)

    async def _heed(
        self, kept: CheckpointOutcome, call: UpcomingCall, check: PermissionCheck | None
    ) -> None:
        """Tell what is not kept; before something is lost for good that nobody has agreed to,
        ask. Without anybody to ask, it is not done."""
        self._tell(kept.notes, "info", tr("See docs/undo.md for what is kept."))
        if not kept.lost:
            return
        why = join_items(kept.lost[:5])
        destroys = bool(call.deletes or call.strikes or call.paths)
        agreed = check is None or check.answer not in (None, "no")
        if destroys and not agreed and check is not None:
            if not self.gatekeeper.inbox.attended:
                raise ToolFailure(
                    f"{call.tool} was not run: it couldn't be undone ({why}), and nobody is there "
                    "to ask. Find a way that destroys less.",
                    type=FailureType.PERMISSION,
                    reasons=(because("cannot_undo", why=why),),
                )
            await self.gatekeeper.confirm(check, because("cannot_undo", why=why))
        text = tr(
            "{tool} {title} cannot be undone completely: {why}.",
            tool=call.tool,
            title=call.title[:60],
            why=why,
        )
        self._tell((text,), "warning", tr("/undo restores what was kept."))

    def _tell(self, texts: Iterable[str], level: Any, hint: str) -> None:
        for text in texts:
            if text not in self._told:
                self._told.add(text)
                self.emit(Notice(level=level, text=text, hint=hint))

    def _see(self, call: UpcomingCall, root: str) -> None:
        """Find out what changed, for the receipt and for an undo."""
        try:
            record = self.checkpoints.after(call.call_id)
        except OSError as error:
            log.warning("what %s changed is not known: %s", call.tool, error)
            text = tr(
                "What {tool} changed could not be found out ({why}), so it cannot be undone.",
                tool=call.tool,
                why=error.strerror or error,
            )
            self._tell((text,), "warning", tr("Check the files yourself, for example with git."))
            return
        if record is not None:
            self._touched += _files(record, self.checkpoints, root)


async def _find_affected(
    facts: Facts, context: ToolContext
) -> tuple[list[str], list[str], list[str]]:
    """The paths that a command is known to delete, to change otherwise, and to change without
    touching their bytes."""
    deletes: list[str] = []
    strikes: list[str] = []
    touches: list[str] = []
    if facts.destroys:
        session = context.session
        radius = await blast_radius(
            facts.destroys, session.workspace, environment=session.environment, seconds=TIMEOUT_S
        )
        for each in radius.touched:
            into = deletes if each.verb == DELETES else strikes
            (touches if each.verb in {MODES, OWNERS, MOVES} else into).extend(each.paths)
    return deletes, strikes, touches


def _files(record: Record, checkpoints: Checkpoints, root: str) -> list[FileTouched]:
    """The files of a record for the receipt; lines are counted while there are few enough."""
    found = []
    for number, change in enumerate(record.changes):
        if change.doubt or "directory" in (change.before.kind, change.after.kind):
            continue
        counted = count_lines(change, checkpoints) if number < 500 else None
        added, removed = counted or (None, None)
        path = change.path.removeprefix(root.rstrip("/") + "/")
        found.append(
            FileTouched(path=path, verb=change.verb, by=record.by, added=added, removed=removed)
        )
    return found
