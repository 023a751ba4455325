"""The sessions on this machine: opened, resumed, copied, found and deleted."""

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agent_cli.core.errors import UserError
from agent_cli.core.events import TurnStarted
from agent_cli.core.log.entries import (
    Entry,
    EventAdded,
    KnownBody,
    MessageAdded,
    ReplyAbandoned,
    SessionOpened,
    new_entry,
)
from agent_cli.core.log.history import History, read_history
from agent_cli.core.messages import AssistantMessage
from agent_cli.lib.language import tr
from agent_cli.storage.checkpoint import quota
from agent_cli.storage.checkpoint.forking import fork as fork_checkpoints
from agent_cli.storage.partial_reply import read_pieces
from agent_cli.storage.session_log import LogFiles, SessionLog, is_session_id, read_bytes, read_log

if TYPE_CHECKING:
    from agent_cli.storage.session_index import SessionIndex, SessionInfo

DAY = 86_400.0
_MIN_ID_CHARS = 4
_MAX_LISTED = 8


class SeveralSessions(UserError):
    """The words fit more than one session."""

    def __init__(self, words: str, found: "Sequence[SessionInfo]") -> None:
        listed = "\n".join(f"  {each.id}  {each.name}" for each in found[:_MAX_LISTED])
        said = tr("Which session do you want to resume?")
        if words:
            said = tr("Several sessions match “{words}”.", words=words)
        hint = tr("Give its id: agent -r ID")
        super().__init__(said, hint=f"{hint}\n{listed}".rstrip())
        self.words = words


@dataclass(frozen=True)
class Resumed:
    """A resumed session: its log, open and locked, and what it holds."""

    log: SessionLog
    history: History


class Sessions:
    """All sessions below the state directory."""

    def __init__(self, state: Path, redact: Callable[[str], str] = str) -> None:
        self._state = state
        self._directory = state / "sessions"
        self._redact = redact

    @cached_property
    def index(self) -> "SessionIndex":
        """Lists and searches them."""
        from agent_cli.storage.session_index import SessionIndex  # noqa: PLC0415 (loads SQLite)

        return SessionIndex(self._directory, self._state / "sessions.sqlite")

    def new(self, session_id: str) -> SessionLog:
        """A log that begins when something is said."""
        return SessionLog(self._files(session_id), self._redact)

    def resume(self, session_id: str) -> Resumed:
        """Resume a session; raises SessionInUse, and UserError if there is none."""
        self._require(session_id)
        log = self.new(session_id)
        try:
            log.open()
            entries = read_log(log.files)
            added = _recover(entries, log.files)
            for entry in added:
                log.append(entry)
            log.files.partial.unlink(missing_ok=True)
        except OSError as error:
            log.close()
            raise _unreadable(session_id, error) from error
        return Resumed(log, read_history([*entries, *added]))

    def fork(self, session_id: str, new_id: str) -> Resumed:
        """Resume a copy of a session, which may be in use itself."""
        self._require(session_id)
        old, new = self._files(session_id), self._files(new_id)
        try:
            recovered = _recover(read_log(old), old)
            _copy_payloads(old.payloads, new.payloads)
            _copy_log(old, new)
            fork_checkpoints(self._state / "checkpoints", session_id, new_id)
            log = self.new(new_id)
            log.open()
            for entry in recovered:
                log.append(entry)
            return Resumed(log, read_history(read_log(new)))
        except OSError as error:
            self._remove_half_copy(new)
            raise _unreadable(session_id, error) from error

    def read(self, session_id: str) -> list[Entry]:
        """Everything a session holds, to be looked at; raises UserError."""
        self._require(session_id)
        files = self._files(session_id)
        try:
            entries = read_log(files)
        except OSError as error:
            raise _unreadable(session_id, error) from error
        return [*entries, *_recover(entries, files)]

    def find(self, text: str, workspace: str | None = None) -> "SessionInfo":
        """The one session of this id, or the beginning of it, or in which these words were said.

        What was said in this workspace goes before what was said elsewhere.
        """
        self.index.refresh()  # a list that is out of date might lead to another session
        text = text.replace("\0", "\ufffd")
        found = self._by_id(text) or self.index.search(text, workspace)
        found = found or self.index.search(text)
        if not found:
            hint = tr("agent sessions list shows all of them.")
            raise UserError(tr("No session matches “{words}”.", words=text), hint=hint)
        if len(found) > 1:
            raise SeveralSessions(text, found)
        return found[0]

    def last(self, workspace: str) -> "SessionInfo":
        """The latest session of a directory; raises UserError if there is none."""
        self.index.refresh()
        found = self.index.listing(workspace, limit=1)
        if not found:
            said = tr("There is no session in {directory} yet.", directory=workspace)
            raise UserError(said, hint=tr("agent sessions list shows those in other directories."))
        return found[0]

    def delete(self, session_id: str) -> None:
        """Remove a session and all that belongs to it; raises SessionInUse and OSError."""
        self._require(session_id)
        files = self._files(session_id)
        log = self.new(session_id)
        log.open()
        try:
            shutil.rmtree(files.payloads, ignore_errors=True)
            shutil.rmtree(self._state / "results" / session_id, ignore_errors=True)
            quota.remove(self._state / "checkpoints" / session_id)
            for file in (files.partial, files.log):
                file.unlink(missing_ok=True)
        finally:
            log.close()

    def prune(self, days: float) -> list[str]:
        """Delete what nobody has touched for so many days; returns the ids. 0: keep all."""
        if days <= 0:
            return []
        deleted = []
        oldest = time.time() - days * DAY
        for file in self._directory.glob("*.jsonl"):
            with contextlib.suppress(OSError, UserError):  # in use, or gone meanwhile
                if is_session_id(file.stem) and file.stat().st_mtime < oldest:
                    self.delete(file.stem)
                    deleted.append(file.stem)
        return deleted

    def prune_daily(self, days: float) -> None:
        """Prune, unless that was done today."""
        mark = self._directory / "pruned"
        with contextlib.suppress(OSError):
            if not mark.exists() or mark.stat().st_mtime < time.time() - DAY:
                mark.touch(mode=0o600)
                self.prune(days)

    def _remove_half_copy(self, files: LogFiles) -> None:
        shutil.rmtree(files.payloads, ignore_errors=True)
        shutil.rmtree(self._state / "checkpoints" / files.id, ignore_errors=True)
        for file in (files.log.with_suffix(".new"), files.log):
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)

    def _files(self, session_id: str) -> LogFiles:
        return LogFiles(self._directory, session_id)

    def _require(self, session_id: str) -> None:
        if not is_session_id(session_id) or not self._files(session_id).log.is_file():
            hint = tr("agent sessions list shows all of them.")
            raise UserError(tr("There is no session {id}.", id=session_id), hint=hint)

    def _by_id(self, text: str) -> "list[SessionInfo]":
        if len(text) < _MIN_ID_CHARS or not text.isalnum():
            return []
        return [each for each in self.index.listing() if each.id.startswith(text.lower())]


def _recover(entries: Sequence[Entry], files: LogFiles) -> list[Entry]:
    """What a program that was killed had shown and not yet written as entries."""
    pieces = read_pieces(files.partial)
    if pieces is None or not entries:
        return []
    since = next((n for n, entry in enumerate(entries) if entry.id == pieces.after), len(entries))
    if any(_holds_a_reply(entry) for entry in entries[since + 1 :]):
        return []  # the pieces were about to be removed
    bodies: list[KnownBody] = []
    if pieces.thinking:
        bodies.append(ReplyAbandoned(thinking=pieces.thinking))
    if text := pieces.text.strip():
        reply = AssistantMessage(text=text, model=_model(entries), interrupted=True)
        bodies.append(MessageAdded(message=reply))
    added: list[Entry] = []
    for body in bodies:
        added.append(new_entry(body, (added or entries)[-1].id))
    return added


def _holds_a_reply(entry: Entry) -> bool:
    body = entry.body
    if isinstance(body, MessageAdded):
        return isinstance(body.message, AssistantMessage)
    return isinstance(body, ReplyAbandoned)


def _model(entries: Sequence[Entry]) -> str:
    for entry in reversed(entries):
        if isinstance(entry.body, EventAdded) and isinstance(entry.body.event, TurnStarted):
            return entry.body.event.model
    return ""


def _copy_log(old: LogFiles, new: LogFiles) -> None:
    """Copy the lines; the first one gets the name of the copy. Half a copy is never seen."""
    lines = read_bytes(old.log).split(b"\n")
    for number, line in enumerate(lines):
        if b'"kind":"opened"' in line[:260]:
            data = json.loads(line)
            body = SessionOpened.model_validate(data["body"])
            body = body.model_copy(update={"session": new.id, "forked_from": old.id})
            data["body"] = body.model_dump(mode="json")
            lines[number] = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
            break
    temporary = new.log.with_suffix(".new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
        file.write(b"\n".join(lines))
    temporary.rename(new.log)


def _copy_payloads(old: Path, new: Path) -> None:
    """The files never change, so that both sessions can share them."""
    if not old.is_dir():
        return
    new.mkdir(mode=0o700)
    for file in old.iterdir():
        try:
            os.link(file, new / file.name)
        except OSError:
            shutil.copy2(file, new / file.name)


def _unreadable(session_id: str, error: OSError) -> UserError:
    why = error.strerror or error
    return UserError(tr("Cannot open the session {id}: {error}.", id=session_id, error=why))
