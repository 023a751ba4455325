"""Instructions, commands and profiles pass the same rules and redaction as what a tool reads."""

import pytest

from tests.kit.extensions import extended
from tests.kit.sessions import SceneMaker

KEY = "sk-proj-Zq81mXv0aTn37LcPp5Rw"
SECRET = "the-content-of-a-secret-file"


def prompt_of(scene: SceneMaker, **settings: object) -> str:
    made = scene({"text": "."}, settings=settings)
    return made.session._parts.system_prompt


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md"])
@pytest.mark.parametrize(
    "target", [".env", "server.key", ".git/config", "deep/id_rsa", "secret/a.txt", "secrets.yaml"]
)
async def test_a_link_to_a_secret_is_not_sent(
    make_session: SceneMaker, name: str, target: str
) -> None:
    make_session.write({target: f"{SECRET}\nDB_PASSWORD=Tr0ub4dor-and-3\n"})
    (make_session.workspace / name).symlink_to(target)
    said = prompt_of(make_session, permissions={"deny": ["Read(secret/**)"]})
    assert SECRET not in said
    assert "not permitted" in said


async def test_what_an_ordinary_file_says_is_sent_without_keys(make_session: SceneMaker) -> None:
    make_session.write({"AGENTS.md": f"be kind\nAPI_KEY={KEY}\n", "sub/x.md": "more"})
    said = prompt_of(make_session)
    assert "be kind" in said
    assert KEY not in said
    (make_session.workspace / "AGENTS.md").unlink()
    (make_session.workspace / "AGENTS.md").symlink_to("sub/x.md")
    assert "more" in prompt_of(make_session)


async def test_a_command_file_is_sent_without_keys(make_session: SceneMaker) -> None:
    make_session.write({".agent/commands/go.md": f"use {KEY} now"})
    scene = make_session({"text": "."})
    await extended(scene)
    (command,) = [each for each in scene.session.extensions.commands if each.name == "go"]
    pieces = command.prompt("").pieces  # type: ignore[union-attr]
    assert KEY not in str(pieces)
    assert "now" in str(pieces)
