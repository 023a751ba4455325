"""Which session is resumed, found before anything else is decided."""

import os
from dataclasses import replace
from pathlib import Path

from agent_cli.config.schema import Settings
from agent_cli.core.errors import UserError
from agent_cli.core.log.history import History
from agent_cli.core.log.store import Store
from agent_cli.core.parts import new_session_id
from agent_cli.core.policy import Mode, stricter
from agent_cli.launch_options import FoundSession, Resume
from agent_cli.lib import sweep
from agent_cli.lib.language import tr
from agent_cli.lib.watchdog import mark_of
from agent_cli.storage.metrics import read_statistics
from agent_cli.storage.session_store import Sessions, SeveralSessions


def find(resume: Resume, cwd: Path, sessions: Sessions) -> Resume:
    """The wish with the session it means; raises UserError if there is not exactly one."""
    if resume.found is not None:
        return resume
    here = os.path.realpath(cwd)
    if resume.ask:
        raise SeveralSessions("", sessions.index.listing(here))
    info = sessions.find(resume.text, here) if resume.text else sessions.last(here)
    return replace(resume, found=FoundSession(info.id, info.workspace, info.model))


def prepare(resume: Resume, cwd: Path, sessions: Sessions) -> Resume:
    """Do what may fail before another session is left for this one; raises UserError.

    A copy is made now.
    """
    resume = find(resume, cwd, sessions)
    assert resume.found is not None
    directory(resume, cwd)
    if not resume.fork:
        return resume
    copy = sessions.fork(resume.found.id, new_session_id())
    copy.log.close()
    return replace(resume, fork=False, found=resume.found._replace(id=copy.log.files.id))


def directory(resume: Resume, cwd: Path) -> Path:
    """Where the session continues: where it was, unless another directory was named."""
    assert resume.found is not None
    if resume.stay or not resume.found.workspace:
        return cwd
    before = Path(resume.found.workspace)
    if not before.is_dir():
        raise UserError(
            tr(
                "The directory of session {id} no longer exists: {path}.",
                id=resume.found.id,
                path=before,
            ),
            hint=tr("Choose the directory to work in with --cwd."),
        )
    return before


def open_store(
    resume: Resume | None, sessions: Sessions, new_id: str
) -> tuple[str, Store, History]:
    """The id, the log and the past of the session that begins or is resumed."""
    if resume is None or resume.found is None:
        return new_id, sessions.new(new_id), History()
    old = resume.found.id
    if resume.fork:
        forked = sessions.fork(old, new_id)
        return new_id, forked.log, forked.history
    resumed = sessions.resume(old)
    try:
        # Nobody else has the session: what still runs for it was left by a program that was killed.
        sweep.end(mark_of(old))
    except BaseException:
        resumed.log.close()
        raise
    return old, resumed.log, resumed.history


def restored_mode(past: History, configured: Mode, *, attended: bool) -> Mode:
    """The mode to resume in: the configured one, or a stricter one in which the session was left.

    A log may come from elsewhere, so it loosens nothing. Without anybody to ask, the mode is
    configured, or plan mode.
    """
    if past.mode not in tuple(Mode) or not (attended or past.mode == Mode.PLAN):
        return configured
    return stricter(configured, Mode(past.mode))


def knows_model(name: str, settings: Settings, counted: Path) -> bool:
    """Whether the user has configured a model or has used it before: a log may come from elsewhere,
    and a model's name can hold an address to which the conversation would go. `counted` is where
    requests are counted."""
    named = {settings.model, settings.fast_model, *settings.fallback_models, *settings.models}
    return name in named or name in (each.model for each in read_statistics(counted).models)
