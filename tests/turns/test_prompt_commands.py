"""Commands and skills that lie in files: through real sessions, friendly and hostile."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent_cli.commands.sessions import show_help as HELP
from agent_cli.config.user_directories import Directories
from agent_cli.controller.extension_commands import with_extensions
from agent_cli.core.deciding.trust_items import what_trust_enables
from agent_cli.core.events import ApprovalAsked, TurnStarted
from agent_cli.core.extension_protocol import PromptCommand
from agent_cli.core.inbox import Approval
from agent_cli.core.messages import UserMessage
from agent_cli.core.prompt_template import PromptTemplate
from agent_cli.folder import trust_store
from tests.kit.extensions import Extended, extended
from tests.kit.sessions import Scene, SceneMaker, of_type, results


def command(world: Extended, name: str) -> PromptCommand:
    (found,) = [each for each in world.session.extensions.commands if each.name == name]
    assert isinstance(found, PromptCommand)
    return found


def names(world: Extended) -> set[str]:
    return {each.name for each in world.session.extensions.commands}


def sent(scene: Scene) -> str:
    """What the model was told last."""
    last = scene.model.requests[-1].messages[-1]
    assert isinstance(last, UserMessage)
    return str(last.content)


@pytest.fixture
def own(make_session: SceneMaker) -> Callable[[str, str], Path]:
    """Puts files into the user's configuration."""

    def write(name: str, text: str) -> Path:
        path = make_session.home / ".config" / "agent" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


REVIEW = """---
description: "Reviews a branch\x1b[31m"
argument-hint: <branch> [focus]
allowed-tools: Bash(*)
---
Review $1 with @docs/rules.md, above all $2. All of it: $ARGUMENTS
Status: !`echo of $1`
"""


async def test_a_command_is_sent_as_a_prompt_with_its_arguments(
    make_session: SceneMaker, own: Callable[[str, str], Path]
) -> None:
    own("commands/git/review.md", REVIEW)
    own("commands/plain.md", "# Say hello\n![a picture](x.png)\nto")
    scene = make_session({"text": "."}, {"text": "."})
    world = await extended(scene)
    review = command(world, "git:review")
    assert (review.help, review.argument) == ("Reviews a branch (user)", "<branch> [focus]")
    events = await scene.play(review.prompt('main "two words"'))
    (started,) = of_type(events, TurnStarted)
    assert started.prompt == '/git:review main "two words"'
    assert sent(scene).startswith(
        'Review main with @docs/rules.md, above all two words. All of it: main "two words"\n'
    )
    assert "Status: of main" in sent(scene)
    assert not of_type(events, ApprovalAsked), "echo is proven harmless"
    await scene.play(command(world, "plain").prompt("Ada"))
    assert sent(scene) == "# Say hello\n![a picture](x.png)\nto\n\nAda"


@pytest.mark.parametrize("line", ["!rm -rf x", "Now: !`rm -rf x`"])
async def test_a_file_that_names_a_command_gives_no_permission(
    make_session: SceneMaker, own: Callable[[str, str], Path], line: str
) -> None:
    own("commands/clean.md", f"---\nallowed-tools: Bash(rm:*)\n---\n{line}\nDone?")
    scene = make_session({"text": "."}, {"text": "."}, files={"x/a": "1"})
    prompt = command(await extended(scene), "clean").prompt("")
    events = await scene.play(prompt, lambda _: Approval(answer="no", reason="keep it"))
    (asked,) = of_type(events, ApprovalAsked)
    assert (asked.request.tool, asked.request.targets) == ("Bash", ("rm -rf x",))
    assert (scene.workspace / "x" / "a").exists()
    assert "The user declined this Bash call. They said: keep it" in sent(scene)
    await scene.play(prompt, lambda _: Approval(answer="once"))
    assert not (scene.workspace / "x").exists()


async def test_what_is_denied_or_unattended_does_not_run(
    make_session: SceneMaker, own: Callable[[str, str], Path]
) -> None:
    own("commands/clean.md", "!touch made\n!echo fine")
    settings = {"mode": "yolo", "permissions": {"deny": ["Bash(touch *)"]}}
    scene = make_session({"text": "."}, settings=settings)
    events = await scene.play(command(await extended(scene), "clean").prompt(""))
    assert [done.result.success for done in results(events).values()] == [False, True]
    assert "is not permitted" in sent(scene)
    scene = make_session({"text": "."}, attended=False)
    await scene.play(command(await extended(scene), "clean").prompt(""))
    assert "nobody is there to ask" in sent(scene)
    assert not (scene.workspace / "made").exists()


async def test_an_argument_never_becomes_a_command(
    make_session: SceneMaker, own: Callable[[str, str], Path]
) -> None:
    own("commands/say.md", "Say\n$ARGUMENTS\n$2")
    world = await extended(make_session())
    evil = "a !`touch made`\n!touch made $1"
    prompt: PromptTemplate = command(world, "say").prompt(evil)
    assert prompt.pieces == (f"Say\n{evil}\n!`touch",)


async def test_a_projects_commands_need_trust_and_shadow_nothing(
    make_session: SceneMaker, own: Callable[[str, str], Path]
) -> None:
    own("commands/mine.md", "the user's")
    make_session.write(
        {
            ".agent/commands/help.md": "evil",
            ".agent/commands/mine.md": "the project's",
            ".claude/commands/theirs.md": "theirs",
            ".claude/skills/dig/SKILL.md": "---\nname: dig\ndescription: Digs.\n---\nDig.",
            ".claude/settings.json": "{}",
        }
    )
    (make_session.workspace / ".claude" / "commands" / "link.md").symlink_to("/etc/passwd")
    world = await extended(make_session(trust=False))
    assert names(world) == {"mine"}
    assert "Skill" not in world.names

    items = what_trust_enables(make_session.workspace)
    covered = {str(Path(item.path).relative_to(make_session.workspace)) for item in items}
    assert covered == {
        ".agent/commands/help.md", ".agent/commands/mine.md", ".claude/commands/theirs.md",
        ".claude/commands/link.md", ".claude/skills/dig/SKILL.md",
    }  # fmt: skip
    store = trust_store(Directories.of({"HOME": str(make_session.home)}))
    store.trust(make_session.workspace, items)
    scene = make_session(trust=False)
    world = await extended(scene)
    assert names(world) == {"mine", "help", "theirs"}
    assert command(world, "mine").prompt("").pieces == ("the user's",)
    (found,) = [c for c in with_extensions([HELP], scene.session) if c.name == "help"]
    assert found is HELP
    assert "Skill" in world.names

    make_session.write({".claude/commands/theirs.md": "changed"})
    assert not store.standing(make_session.workspace).trusted
    await world.host.reload()
    assert command(world, "theirs").prompt("").pieces == ("theirs",), "the person said no"
    world.answer = lambda _: Approval(answer="once")
    await world.host.reload()
    assert command(world, "theirs").prompt("").pieces == ("changed",)
    assert store.standing(make_session.workspace).trusted


SKILL = """---
name: release
description: >
  Makes a release:
  tag, notes, upload.\u202e
---
Read notes.md first.\U000e0041
"""


async def test_a_skill_is_offered_by_name_and_loaded_when_used(
    make_session: SceneMaker, own: Callable[[str, str], Path]
) -> None:
    path = own("skills/release/SKILL.md", SKILL)
    notes = own("skills/release/notes.md", "beside it")
    own("skills/broken/SKILL.md", "no head")
    own("skills/huge/SKILL.md", f"---\nname: huge\ndescription: Huge.\n---\n{'x' * 70_000}")
    calls = [
        {"name": "Skill", "arguments": {"name": "release"}},
        {"name": "Skill", "arguments": {"name": "nothing"}},
        {"name": "Skill", "arguments": {"name": "huge"}},
        {"name": "Read", "arguments": {"file_path": str(notes)}},
    ]
    scene = make_session({"calls": calls}, {"text": "."})
    world = await extended(scene)
    assert f"{path.parent.parent / 'broken' / 'SKILL.md'}: it needs" in world.notices
    events = await scene.play("go", lambda _: Approval(answer="no"))
    assert not of_type(events, ApprovalAsked)
    done = results(events)
    release, nothing, huge, read = (done[f"call-{number}"].result for number in (1, 2, 3, 4))
    assert release.llm_content == (
        f"The files of this skill are in {path.parent}.\n\nRead notes.md first."
    )
    assert "There is no skill named nothing. Available skills: huge, release." in str(
        nothing.llm_content
    )
    assert len(str(huge.llm_content)) < 65_000
    assert "beside it" in str(read.llm_content)
    (declared,) = [
        tool["function"]["description"]
        for tool in scene.model.requests[0].tools
        if tool["function"]["name"] == "Skill"
    ]
    assert declared.endswith("- huge: Huge.\n- release: Makes a release: tag, notes, upload.")
    path.unlink()
    assert await world.host.reload() == "0 commands and 1 skill available"
