"""One program at a time on one session."""

import contextlib
import errno
import fcntl
import os
from pathlib import Path

from agent_cli.core.errors import UserError
from agent_cli.lib.language import tr


class SessionInUse(UserError):
    """Another program has the session open."""

    def __init__(self, session_id: str, owner: int | None) -> None:
        said = tr("The session {id} is open in another program.", id=session_id)
        if owner:
            values = {"id": session_id, "process": owner}
            said = tr("The session {id} is open in process {process}.", **values)
        hint = tr("Continue there, or fork it: agent -r {id} --fork", id=session_id)
        super().__init__(said, hint=hint)
        self.session_id = session_id
        self.owner = owner


def lock(descriptor: int, session_id: str, owner_file: Path) -> None:
    """Lock the log of a session until its descriptor is closed; raises SessionInUse.

    The kernel holds the lock, so a program that was killed holds none. A file system that knows
    no locks is used without.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise SessionInUse(session_id, _owner(owner_file)) from error
        return
    with contextlib.suppress(OSError):  # it only tells the other one whom to look for
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(owner_file, flags, 0o600), "w") as file:
            file.write(f"{os.getpid()}\n")


def _owner(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None
