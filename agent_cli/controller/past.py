"""What a view says about a session that was or can be resumed."""

from typing import TYPE_CHECKING

from agent_cli.launch_options import FoundSession, Resume
from agent_cli.lib.dates import ago
from agent_cli.lib.language import tr, trn
from agent_cli.safety.sanitise import visible

if TYPE_CHECKING:  # the screen is there before either is loaded
    from agent_cli.core.log.history import History
    from agent_cli.core.session import Session


def resumed_line(past: "History", now: float) -> str:
    """ "Resumed · Fix the tests · 2 hours ago"."""
    parts = [tr("Resumed"), visible(past.title, one_line=True)]
    if past.updated is not None:
        parts.append(ago(past.updated.timestamp(), now))
    return " · ".join(part for part in parts if part)


def unknown_line(past: "History") -> str:
    """How much of a session can't be shown."""
    return trn(
        "{n:,} entry was written by a newer version and can't be shown.",
        "{n:,} entries were written by a newer version and can't be shown.",
        past.unknown,
    )


def how_to_resume(session: "Session") -> str:
    """How to come back, if there is anything to come back to."""
    return tr("Resume with agent -r {id}", id=session.id) if session.is_kept else ""


def as_resume(session: "Session") -> Resume | None:
    """What opens it again, without looking for it; None if nothing was said in it."""
    found = FoundSession(session.id, session.workspace.root, session.model)
    return Resume(found=found) if session.is_kept else None
