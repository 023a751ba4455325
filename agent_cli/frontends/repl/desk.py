"""What slash commands may do inline, and how they are found and run."""

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine, Sequence
from typing import Any, Literal

from agent_cli.commands._command import Command
from agent_cli.commands._foreign import find, with_foreign
from agent_cli.core.events import Event
from agent_cli.core.session import Session
from agent_cli.core.written import Written
from agent_cli.frontends.repl.going_back import GoingBack
from agent_cli.frontends.repl.stage import Stage
from agent_cli.frontends.repl.talk import Talk
from agent_cli.frontends.shared.answers import Answer
from agent_cli.frontends.shared.keys import help_rows
from agent_cli.lib.dates import ago
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import visible
from agent_cli.storage.sessions import Sessions
from agent_cli.wishes import Resume

_MOST_SESSIONS = 9


class InlineDesk:
    """The inline prompt as commands see it."""

    def __init__(
        self, talk: Talk, stage: Stage, commands: Sequence[Command], sessions: Sessions
    ) -> None:
        self.following: Resume | None = None
        """The session to go on with when this one is left."""
        self._talk = talk
        self._teller = talk.teller
        self._stage = stage
        self._sessions = sessions
        self._going_back = GoingBack(talk, stage)
        self._own = tuple(commands)
        talk.obey = self.obey

    def obey(self, text: str) -> None:
        """Carry out what was typed after the slash."""
        name, _, argument = text.partition(" ")
        command = find(name, self._listed)
        if command is None:
            self.warn(tr("There is no command /{name}.", name=name), tr("/help lists them."))
            return
        try:
            command.run(self, argument.strip())
        except Exception as error:  # a broken command must not end the session
            self._talk.own_fault(tr("/{name} failed", name=command.name), error)

    @property
    def _listed(self) -> list[Command]:
        return with_foreign(self._own, self.session)

    # ── what commands need of us ─────────────────────────────────────────────────────────────────

    @property
    def session(self) -> Session:
        return self._talk.session

    def say(self, markdown: str) -> None:
        self._teller.say(markdown)

    def warn(self, text: str, hint: str = "") -> None:
        self._teller.warn(text, hint)

    def notify(self, text: str) -> None:
        self._teller.note(text)

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        self._talk.background(work)

    def choose_session(self, words: str) -> None:
        if self._talk.is_busy:
            self._talk.say_busy()
        else:
            self.background(self._choose_session(words))

    async def _choose_session(self, words: str) -> None:
        index, here = self._sessions.index, self.session.workspace.root
        listed = await asyncio.to_thread(
            lambda: index.search(words, here) if words else index.listing(here)
        )
        found = [info for info in listed if info.id != self.session.id][:_MOST_SESSIONS]
        if not found:
            self.warn(tr("There is no other session here."))
            return
        now = time.time()
        answers = [Answer("", tr("Stay here"), "n")]
        for number, info in enumerate(found, 1):
            name = visible(info.name, one_line=True)[:70]
            answers.append(Answer(info.id, name, str(number), ago(info.updated, now)))
        if chosen := await self._stage.choose(tr("Go on with which session?"), answers):
            self.resume(Resume(chosen))

    def resume(self, resume: Resume) -> None:
        if self._talk.is_busy:
            self._talk.say_busy()
            return
        self.following = resume
        self._talk.leave()

    def changed(self) -> None:
        self._talk.changed()

    def clear(self) -> None:
        if self._talk.is_busy:
            self._talk.say_busy()
            return
        self.session.forget()
        self._teller.forget()
        self.notify(tr("A new conversation."))

    def retry(self) -> None:
        self._talk.retry()

    def undo(self, scope: str) -> None:
        self._going_back.undo(scope)

    def redo(self) -> None:
        self._going_back.redo()

    def rewind(self) -> None:
        self._going_back.rewind()

    def play(self, turn: AsyncGenerator[Event, None]) -> None:
        self._talk.play(turn)

    def send(self, prompt: Written) -> None:
        if self._talk.is_busy:
            self._talk.say_busy()
            return
        self._teller.prompt(prompt.said)
        self._talk.play(self.session.run(prompt))

    def copy(self, what: Literal["reply", "all"]) -> None:
        texts = self._teller.told if what == "all" else self._teller.replies[-1:]
        if not texts:
            self.warn(tr("There is nothing to copy yet."))
        elif self._stage.copy("\n\n".join(texts)):
            self.notify(tr("Copied."))
        else:
            self.warn(tr("There is no clipboard here."))

    def help(self) -> None:
        keys = "\n".join(f"- **{key}**: {text}" for key, text in help_rows("inline"))
        named = "\n".join(
            f"- **{f'/{c.name} {tr(c.argument)}'.rstrip()}**: {tr(c.help)}" for c in self._listed
        )
        self.say("\n\n".join((tr("Keys"), keys, tr("Commands"), named)))

    def changes(self) -> Sequence[str]:
        return self._teller.diffs

    def window(self) -> int | None:
        return self._talk.window

    def themes(self) -> Sequence[str]:
        return ()

    def use_theme(self, name: str) -> None:
        """There is one look only: the terminal's own."""

    def leave(self) -> None:
        self._talk.leave()
