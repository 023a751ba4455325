"""What is written for a session in Markdown: commands for the user, skills for the model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from agent_cli.core.extension_protocol import PromptCommand
from agent_cli.extensions.documents import Complain, Folder
from agent_cli.extensions.prompt_commands import find_commands
from agent_cli.extensions.registrar import Registrar
from agent_cli.extensions.skills import MAX_SKILLS, Skill, find_skills, skill_tool
from agent_cli.lib.language import tr, trn
from agent_cli.lib.threads import in_own_thread

T = TypeVar("T", PromptCommand, Skill)


@dataclass(frozen=True, kw_only=True)
class PromptFolders:
    """The folders, in the order they count: of two things with one name the first is taken."""

    commands: Sequence[Folder] = ()
    skills: Sequence[Folder] = ()


class PromptFiles:
    """Reads the files whole when it is told to, so that what is used is what was trusted."""

    def __init__(self, places: PromptFolders, registrar: Registrar, complain: Complain) -> None:
        self._places = places
        self._registrar = registrar
        self._complain = complain
        self._commands: dict[Folder, tuple[PromptCommand, ...]] = {}
        self._skills: dict[Folder, tuple[Skill, ...]] = {}
        self._offered: tuple[Skill, ...] = ()

    @property
    def commands(self) -> tuple[PromptCommand, ...]:
        """The slash commands."""
        return _first_by_name(self._commands)

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The skills that the model is offered."""
        return _first_by_name(self._skills)[:MAX_SKILLS]

    async def load(self, *, project: bool = True) -> str:
        """Read all again, a project's only with `project`; says what is there if that changed."""
        before = _names(self.commands), self.skills
        complaints: list[tuple[str, str]] = []

        def read() -> None:
            def complain(text: str, hint: str) -> None:
                complaints.append((text, hint))

            for folder in self._places.commands:
                if project or folder.is_users:
                    self._commands[folder] = tuple(find_commands(folder, complain))
            for folder in self._places.skills:
                if project or folder.is_users:
                    self._skills[folder] = tuple(find_skills(folder, complain))

        await in_own_thread(read)
        if len(_first_by_name(self._skills)) > MAX_SKILLS:
            said = tr("Only the first {most} skills are used.", most=MAX_SKILLS)
            complaints.append((said, ""))
        for text, hint in complaints:
            self._complain(text, hint)
        if self.skills != self._offered:
            self._offered = self.skills
            self._registrar.offer("skills", [skill_tool(self.skills)] if self.skills else [])
        if before == (_names(self.commands), self.skills):
            return ""
        return tr(
            "{commands} and {skills} available",
            commands=trn("{n:,} command", "{n:,} commands", len(self.commands)),
            skills=trn("{n:,} skill", "{n:,} skills", len(self.skills)),
        )


def _first_by_name(found: dict[Folder, tuple[T, ...]]) -> tuple[T, ...]:
    first: dict[str, T] = {}
    for each in (item for items in found.values() for item in items):
        first.setdefault(each.name, each)
    return tuple(first.values())


def _names(commands: Sequence[PromptCommand]) -> tuple[tuple[str, str], ...]:
    return tuple((command.name, command.help) for command in commands)
