"""Skills: the model is told their names and what they are for, and loads one when it needs it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_cli.core.deciding.trust_items import SKILL_FILE
from agent_cli.core.errors import refuse
from agent_cli.core.tool import Description, StatusTexts, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.extensions.documents import BadDocument, Complain, Folder, read_document
from agent_cli.lib.language import mark, tr

MAX_SKILLS = 100
MAX_DESCRIPTION_CHARS = 300
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}")


@dataclass(frozen=True)
class Skill:
    """One skill, read whole."""

    name: str
    description: str
    body: str
    directory: Path


class SkillParams(ToolParams):
    """Which skill."""

    name: str
    """The skill's name, as listed."""


def find_skills(folder: Folder, complain: Complain) -> Iterator[Skill]:
    """The skills of a folder, by name: each a directory with a SKILL.md."""
    for path in _files(folder):
        try:
            document = read_document(path, follow=folder.is_users)
        except BadDocument as problem:
            complain(tr("Skipped a skill: {problem}", problem=problem), "")
            continue
        name = document.fact("name", 80) or path.parent.name
        described = document.fact("description", MAX_DESCRIPTION_CHARS)
        if not _NAME.fullmatch(name) or not described:
            complain(
                tr(
                    "Skipped the skill {path}: it needs a description, and a name of "
                    "letters, digits and hyphens.",
                    path=path,
                ),
                tr("Put them between two --- lines at the top of the file."),
            )
            continue
        yield Skill(name, described, document.body, path.parent)


def skill_tool(skills: Sequence[Skill]) -> Tool[SkillParams]:
    """The tool that loads these; its description lists them, always in the same order."""
    known = {skill.name: skill for skill in sorted(skills, key=lambda each: each.name)}
    listed = "\n".join(f"- {skill.name}: {skill.description}" for skill in known.values())

    async def run(params: SkillParams, context: ToolContext) -> ToolResult:
        return _load(params.name, known, context.session.text_chars)

    return Tool(
        name="Skill",
        kind=ToolKind.READONLY,
        params=SkillParams,
        run=run,
        description=Description.beside(__file__).model_copy(
            update={"long": f"The skills:\n{listed}"}
        ),
        title=lambda params: params.name,
        status=StatusTexts(mark("Loading…"), mark("Skill failed")),
    )


def _load(name: str, known: Mapping[str, Skill], max_chars: int) -> ToolResult:
    skill = known.get(name.strip().lstrip("/"))
    if skill is None:
        raise refuse(f"There is no skill named {name[:80]}. Available skills: {', '.join(known)}.")
    body = skill.body
    if len(body) > max_chars:
        where = skill.directory / SKILL_FILE
        body = f"{body[:max_chars]}\n[Cut here. Read the rest in {where}.]"
    text = f"The files of this skill are in {skill.directory}.\n\n{body}"
    return ToolResult(llm_content=text, summary=tr("Loaded {names}", names=skill.name))


def _files(folder: Folder) -> list[Path]:
    if folder.path.is_symlink() and not folder.is_users:
        return []
    found = sorted(folder.path.glob(f"*/{SKILL_FILE}"))
    if not folder.is_users:
        found = [path for path in found if not path.parent.is_symlink()]
    return found[: MAX_SKILLS + 1]
