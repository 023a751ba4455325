"""What slash commands may do to the screen, and how they are found and run."""

from collections.abc import AsyncGenerator, Coroutine, Iterator, Sequence
from typing import Any, Literal

from textual.app import App

from agent_cli.commands._command import Command
from agent_cli.commands._foreign import find, with_foreign
from agent_cli.core.events import Event
from agent_cli.core.session import Session
from agent_cli.core.written import Written
from agent_cli.frontends.tui.blocks.reply import ReplyBlock
from agent_cli.frontends.tui.chat import Chat
from agent_cli.frontends.tui.composer import CommandItem
from agent_cli.frontends.tui.going_back import GoingBack
from agent_cli.frontends.tui.modals.help import HelpModal
from agent_cli.frontends.tui.transcript import Transcript
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import visible
from agent_cli.storage.sessions import Sessions
from agent_cli.wishes import Resume


class ScreenDesk:
    """The full-screen app as commands see it."""

    def __init__(
        self,
        app: App[Any],
        chat: Chat,
        transcript: Transcript,
        commands: Sequence[Command],
    ) -> None:
        self.following: Resume | None = None
        """The session to go on with when this one is left."""
        self.sessions: Sessions | None = None
        """Where other sessions are found; None: nowhere."""
        self._app = app
        self._chat = chat
        self._transcript = transcript
        self._own = tuple(commands)
        self._going_back = GoingBack(app, chat, transcript, chat.put_into_prompt)

    def __iter__(self) -> Iterator[Command]:
        return iter(with_foreign(self._own, self.session))

    def items(self) -> list[CommandItem]:
        """The commands as the menu shows them."""
        return [CommandItem(each.name, tr(each.help), tr(each.argument)) for each in self]

    def obey(self, text: str) -> None:
        """Carry out what was typed after the slash."""
        name, _, argument = text.partition(" ")
        command = find(name, self)
        if command is None:
            self.warn(tr("There is no command /{name}.", name=name), tr("/help lists them."))
            return
        self.carry_out(command, argument.strip())

    def carry_out(self, command: Command, argument: str = "") -> None:
        """Run a command."""
        try:
            command.run(self, argument)
        except Exception as error:  # a broken command must not end the session
            self._chat.own_fault(tr("/{name} failed", name=command.name), error)

    # ── what commands need of us ─────────────────────────────────────────────────────────────────

    @property
    def session(self) -> Session:
        return self._chat.session

    def say(self, markdown: str) -> None:
        block = ReplyBlock(markdown)
        block.finish()
        self._transcript.add(block)

    def warn(self, text: str, hint: str = "") -> None:
        self._chat.warn(text, hint)

    def notify(self, text: str) -> None:
        self._app.notify(visible(text, one_line=True), markup=False)

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        self._app.run_worker(work, exclusive=False)

    def choose_session(self, words: str) -> None:
        if self.sessions is None:
            self.warn(tr("Sessions are not kept here."))
            return
        # Loads SQLite, which the first paint does without.
        from agent_cli.frontends.tui.modals.sessions import SessionsModal  # noqa: PLC0415

        modal = SessionsModal(
            self.sessions, self.session.workspace.root, current=self.session.id, words=words
        )
        self._app.push_screen(modal, self._chosen)

    def _chosen(self, chosen: Resume | None) -> None:
        if chosen is not None:
            self.resume(chosen)

    def resume(self, resume: Resume) -> None:
        if self._chat.is_busy:
            self.warn(tr("A turn is under way."), tr("Interrupt it with Esc first."))
            return
        self.following = resume
        self._app.exit(0)

    def changed(self) -> None:
        self._chat.changed()

    def clear(self) -> None:
        self._chat.clear()

    def retry(self) -> None:
        self._chat.retry()

    def undo(self, scope: str) -> None:
        self._going_back.undo(scope)

    def redo(self) -> None:
        self._going_back.redo()

    def rewind(self) -> None:
        self._going_back.rewind()

    def play(self, turn: AsyncGenerator[Event, None]) -> None:
        self._chat.play(turn)

    def send(self, prompt: Written) -> None:
        self._chat.send_written(prompt)

    def copy(self, what: Literal["reply", "all"]) -> None:
        blocks = list(self._transcript.blocks)
        replies = [b.plain_text() for b in blocks if what == "all" or isinstance(b, ReplyBlock)]
        if replies:
            self._app.copy_to_clipboard("\n\n".join(replies) if what == "all" else replies[-1])
            self._app.notify(tr("Copied."), markup=False)

    def help(self) -> None:
        named = [(f"/{c.name} {tr(c.argument)}".rstrip(), tr(c.help)) for c in self]
        self._app.push_screen(HelpModal(named))

    def changes(self) -> Sequence[str]:
        return self._chat.scribe.diffs

    def window(self) -> int | None:
        return self._chat.gauge.window

    def themes(self) -> Sequence[str]:
        return sorted(self._app.available_themes)

    def use_theme(self, name: str) -> None:
        self._app.theme = name

    def leave(self) -> None:
        self._app.exit(0)
