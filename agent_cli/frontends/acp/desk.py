"""What slash commands may do in an editor, and how they are found and run."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Literal

from acp import helpers
from acp.schema import PromptResponse

from agent_cli.commands._command import Command
from agent_cli.commands._foreign import find, with_foreign
from agent_cli.core.errors import UserError
from agent_cli.core.events import Event
from agent_cli.core.session import Session
from agent_cli.core.undo.plan import Preview
from agent_cli.core.written import Written
from agent_cli.frontends.acp import blocks
from agent_cli.frontends.acp.asking import Cancelled
from agent_cli.frontends.acp.updates import note
from agent_cli.frontends.shared import undo_words
from agent_cli.frontends.shared.answers import Answer
from agent_cli.frontends.shared.going_back import carried_out, settled
from agent_cli.frontends.shared.slash import all_commands
from agent_cli.lib.language import tr
from agent_cli.wishes import Resume

if TYPE_CHECKING:
    from agent_cli.frontends.acp.conversation import Conversation

NOT_HERE = frozenset(
    ("clear", "copy", "fork", "quit", "rewind", "sessions", "theme")  # the editor's own business
)


class EditorDesk:
    """A conversation in an editor as commands see it: what they say is an answer."""

    def __init__(self, conversation: "Conversation") -> None:
        self._conversation = conversation
        self._own = all_commands()
        self._said: list[str | tuple[str, str]] = []
        self._is_obeying = False
        self._works: list[Coroutine[Any, Any, None]] = []
        self._turn: AsyncGenerator[Event, None] | None = None

    @property
    def offered(self) -> list[Command]:
        """The commands that make sense in an editor, by name."""
        return [each for each in self._all if each.name not in NOT_HERE]

    @property
    def _all(self) -> list[Command]:
        return with_foreign(self._own, self.session)

    def find(self, text: str) -> tuple[Command, str] | None:
        """The command a prompt stands for, and its argument; None: it is for the model."""
        if not text.startswith("/"):
            return None
        name, _, argument = text[1:].strip().partition(" ")
        command = find(name, self._all)
        return None if command is None else (command, argument.strip())

    async def obey(self, command: Command, argument: str) -> PromptResponse:
        """Carry out a command, with all that it starts."""
        self._is_obeying = True
        try:
            if command.name in NOT_HERE:
                self._elsewhere()
            else:
                command.run(self, argument)
            await self._flush()
            while self._works:
                await self._works.pop(0)
                await self._flush()
            if self._turn is not None:
                return await self._conversation.play(self._turn)
        except Cancelled:
            return PromptResponse(stop_reason="cancelled")
        except UserError as error:
            self.warn(error.message, error.hint)
            await self._flush()
        finally:
            self._is_obeying = False
            for work in self._works:
                work.close()
            self._works.clear()
            self._turn = None
        return PromptResponse(stop_reason="end_turn")

    async def _flush(self) -> None:
        while self._said:
            said = self._said.pop(0)
            if isinstance(said, str):
                await self._conversation.tell(
                    helpers.update_agent_message_text(f"{blocks.plain(said)}\n\n")
                )
            else:
                await self._conversation.tell(note(*said))

    # ── what commands need of us ─────────────────────────────────────────────────────────────────

    @property
    def session(self) -> Session:
        return self._conversation.session

    def say(self, markdown: str) -> None:
        self._put(markdown)

    def warn(self, text: str, hint: str = "") -> None:
        self._put((text, hint))

    def _elsewhere(self) -> None:
        self.warn(
            tr("The editor does this itself."), tr("Use its own commands for threads and text.")
        )

    def notify(self, text: str) -> None:
        self._put((text, ""))

    def _put(self, said: str | tuple[str, str]) -> None:
        self._said.append(said)
        if not self._is_obeying:  # something that a command left running
            self._conversation.background(self._flush())

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        self._works.append(work)

    def choose_session(self, words: str) -> None:
        self._elsewhere()

    def resume(self, resume: Resume) -> None:
        self._elsewhere()

    def changed(self) -> None:
        """The editor hears of it when the command is done."""

    def clear(self) -> None:
        self._elsewhere()

    def retry(self) -> None:
        if self._conversation.has_failed:
            self.play(self.session.run(None))
        else:
            self.warn(tr("There is nothing to try again: the last turn did not fail."))

    def undo(self, scope: str) -> None:
        self.background(self._go_back(lambda: self.session.undoing.preview(scope)))

    def redo(self) -> None:
        self.background(self._go_back(self.session.undoing.preview_redo))

    def rewind(self) -> None:
        self._elsewhere()

    def play(self, turn: AsyncGenerator[Event, None]) -> None:
        self._turn = turn

    def send(self, prompt: Written) -> None:
        self.play(self.session.run(prompt))

    def copy(self, what: Literal["reply", "all"]) -> None:
        self._elsewhere()

    def help(self) -> None:
        rows = (
            f"- **{f'/{c.name} {tr(c.argument)}'.rstrip()}**: {tr(c.help)}" for c in self.offered
        )
        self.say("\n".join(rows))

    def changes(self) -> Sequence[str]:
        return self._conversation.updates.diffs

    def window(self) -> int | None:
        return self._conversation.updates.window

    def themes(self) -> Sequence[str]:
        return ()

    def use_theme(self, name: str) -> None:
        """The look is the editor's."""

    def leave(self) -> None:
        self._elsewhere()

    # ── undo and redo ────────────────────────────────────────────────────────────────────────────

    async def _go_back(self, look: Callable[[], Awaitable[Preview]]) -> None:
        """Show what would be done, ask, and do it."""
        preview = await look()
        root = self.session.workspace.root
        listed = [f"- {undo_words.called(r)}" for r in preview.records[: undo_words.MOST_LISTED]]
        for plan in preview.files[: undo_words.MOST_LISTED]:
            name, fate = undo_words.file_line(plan, root, preview.kind)
            listed.append(f"- {name}: {fate}")
        answers = (undo_words.yes(preview), undo_words.no())
        choices = None
        if await self._choose(undo_words.heading(preview), answers, listed) == "yes":
            choices = await settled(preview, root, self._choose)
        if choices is None:
            self.notify(tr("Nothing was done."))
            return
        self.notify((await carried_out(self.session, preview, choices)).text)

    async def _choose(
        self, heading: str, answers: Sequence[Answer], listed: Sequence[str] = ()
    ) -> str:
        """Ask as if a call asked, for that is how an editor can ask."""
        conversation = self._conversation
        content = [blocks.said(blocks.plain("\n".join(listed)))] if listed else []
        call = conversation.next_question()
        chosen = await conversation.asking.choose(call, heading, answers, content)
        await conversation.answered(call)
        return chosen
