"""Profiles in files, and how a session goes by one."""

from pathlib import Path

import pytest

from agent_cli.core.agents.agent_profile import Profiles
from agent_cli.core.deciding.trust_items import what_trust_enables
from agent_cli.core.errors import UserError
from agent_cli.core.policy import Mode, stricter
from agent_cli.extensions.profile_files import ProfileFolders, read_profiles
from tests.kit.sessions import SceneMaker

WHOLE = """\
---
name: finder
description: "Finds: where something is done"
tools:
  - Read
  - Grep
model: fast
mode: accept-edits
budget: 0.5
read-only: true
role: seeker
---

You search.
"""


def read(tmp_path: Path, *, user: str = "", project: str = "", name: str = "own.md") -> Profiles:
    places = ProfileFolders(tmp_path / "user", tmp_path / "project")
    for directory, text in ((places.user, user), (tmp_path / "project", project)):
        directory.mkdir()
        if text:
            (directory / name).write_text(text, encoding="utf-8")
    return read_profiles(places, {"fast"})


def test_a_profile_of_ones_own_says_everything(tmp_path: Path) -> None:
    profiles = read(tmp_path, user=WHOLE)
    found = profiles.get("finder")
    assert profiles.problems == ()
    assert found.description == "Finds: where something is done"
    assert (found.tools, found.read_only) == (("Read", "Grep"), True)
    assert (found.mode, found.budget, found.role) == (Mode.ACCEPT_EDITS, 0.5, "seeker")
    assert (found.model, found.prompt) == ("fast", "You search.")


def test_a_file_without_a_head_is_all_words_and_named_like_itself(tmp_path: Path) -> None:
    found = read(tmp_path, user="Be kind.\r\n").get("own")
    assert (found.prompt, found.tools, found.role) == ("Be kind.", "all", "own")


@pytest.mark.parametrize(
    ("tools", "meant"),
    [
        ("all", "all"),
        ('"all"', "all"),
        ("Read, Bash", ("Read", "Bash")),
        ("[Read, 'Bash']", ("Read", "Bash")),
        ("[]", ()),
    ],
)
def test_tools_are_written_in_several_ways(tmp_path: Path, tools: str, meant: object) -> None:
    assert read(tmp_path, user=f"---\ntools: {tools}\n---\n").get("own").tools == meant


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ("mode: wild", "mode"),
        ("mod: plan", "unknown setting mod"),
        ("tools:", "tools has no value"),
        ("budget: -1", "budget"),
        ("name: Not A Name", "is not a valid name"),
        ("nested:\n  a: 1", "cannot parse"),
        ("just words", "cannot parse"),
    ],
)
def test_a_file_that_is_not_understood_is_told_and_not_used(
    tmp_path: Path, head: str, why: str
) -> None:
    profiles = read(tmp_path, user=f"---\n{head}\n---\nwords")
    assert [profile.name for profile in profiles] == ["default", "plan", "review"]
    (problem,) = profiles.problems
    assert why in problem
    assert "own.md" in problem


@pytest.mark.parametrize("mode", ["yolo", "auto", "accept-edits"])
def test_a_projects_profile_cannot_loosen(tmp_path: Path, mode: str) -> None:
    text = f"---\nmode: {mode}\nmodel: evil/model\nrole: admin\n---\nwords"
    profiles = read(tmp_path, project=text)
    found = profiles.get("own")
    assert (found.mode, found.model, found.role) == (None, "", None)
    assert found.prompt == "words"
    assert f"mode {mode}" in profiles.problems[0]
    assert "model evil/model" in profiles.problems[1]


def test_a_projects_profile_can_tighten_and_choose_a_model_that_is_configured(
    tmp_path: Path,
) -> None:
    profiles = read(tmp_path, project="---\nmode: plan\nmodel: fast\ntools: Read\n---\n")
    found = profiles.get("own")
    assert (found.mode, found.model, found.tools) == (Mode.PLAN, "fast", ("Read",))
    assert profiles.problems == ()


def test_a_projects_profile_cannot_stand_in_for_another(tmp_path: Path) -> None:
    profiles = read(tmp_path, project="---\ntools: all\n---\nEverything goes.", name="review.md")
    assert profiles.get("review").read_only
    assert "review is already in use" in profiles.problems[0]


def test_the_stricter_of_two_modes() -> None:
    assert stricter(Mode.YOLO, Mode.DEFAULT) is Mode.DEFAULT
    assert stricter(Mode.PLAN, Mode.YOLO) is Mode.PLAN
    assert stricter(Mode.AUTO, None) is Mode.AUTO


def test_trust_lists_a_projects_profiles(tmp_path: Path) -> None:
    path = tmp_path / ".agent" / "agents" / "own.md"
    path.parent.mkdir(parents=True)
    path.write_text("words")
    (before,) = what_trust_enables(tmp_path)
    assert before.path == str(path)
    assert "profile" in before.detail
    path.write_text("other words")
    (after,) = what_trust_enables(tmp_path)
    assert after.sha256 != before.sha256


async def test_a_profile_that_goes_gives_back_what_it_replaced(make_session: SceneMaker) -> None:
    directory = make_session.home / ".config" / "agent" / "agents"
    directory.mkdir(parents=True)
    (directory / "own.md").write_text(
        "---\nmodel: other\nmode: plan\nbudget: 2\ntools: Read, Task\n---\nBe short."
    )
    scene = make_session(
        {"text": "c"}, models={"other": [{"text": "a"}]}, settings={"budget": {"session": 5}}
    )
    session = scene.session
    session.use_profile("own")
    assert (session.model, session.mode) == ("other", Mode.PLAN)
    assert [tool.name for tool in session.tools] == ["Read", "Task"]
    await scene.play()
    assert scene.models["other"].requests[0].system.endswith("Be short.")
    session.use_profile("default")
    assert (session.model, session.mode) == ("scripted", Mode.DEFAULT)
    await scene.play()
    assert "Be short." not in scene.model.requests[0].system
    session.use_profile("plan")
    session.set_mode(Mode.ACCEPT_EDITS)  # the person's own choice outlives the profile
    session.use_profile("default")
    assert session.mode is Mode.ACCEPT_EDITS
    with pytest.raises(UserError, match="no profile named nobody"):
        session.use_profile("nobody")


@pytest.mark.parametrize(
    ("trusted", "flags", "mode"),
    [
        (True, {}, Mode.YOLO),
        (False, {}, Mode.DEFAULT),
        (True, {"mode": "plan"}, Mode.PLAN),
    ],
)
async def test_a_session_begins_with_the_profile_of_the_command_line(
    make_session: SceneMaker, trusted: bool, flags: dict[str, str], mode: Mode
) -> None:
    directory = make_session.home / ".config" / "agent" / "agents"
    directory.mkdir(parents=True)
    (directory / "free.md").write_text("---\nmode: yolo\n---\n")
    scene = make_session(trust=trusted, profile="free", flags=flags)
    assert scene.session.profile.name == "free"
    assert scene.session.mode is mode
