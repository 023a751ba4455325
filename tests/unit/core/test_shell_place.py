"""A command is judged by the very directory it would run in."""

from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.deciding.call_facts import gather
from agent_cli.core.deciding.rules import PatternBase
from agent_cli.core.policy import Effect, Mode, Policy, decide
from agent_cli.core.tool import AnyTool
from agent_cli.core.tool_context import ShellInfo
from agent_cli.safety.paths import Workspace
from agent_cli.tools import bash, edit, write


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    home = tmp_path / "home"
    (home / ".config/gh").mkdir(parents=True)
    (home / ".config/gh/hosts.yml").write_text("token\n")
    (home / "project/.git/hooks").mkdir(parents=True)
    return Workspace(root=str(home), home=str(home))


async def effect(
    tool: AnyTool, given: dict[str, Any], workspace: Workspace, mode: Mode = Mode.DEFAULT
) -> Effect:
    facts = await gather(tool.bind(given), workspace, ShellInfo(), trusted=True)
    place = PatternBase(root=workspace.root, home=workspace.home)
    return decide(facts, Policy(place, mode=mode, trusted=True)).effect


@pytest.mark.parametrize("directory", ["~/.config/gh", ".config/gh", "link", "project/../link"])
async def test_a_working_directory_is_resolved_as_when_it_runs(
    workspace: Workspace, directory: str
) -> None:
    (Path(workspace.root) / "link").symlink_to(".config/gh")
    given = {"command": "cat hosts.yml", "working_directory": directory}
    assert await effect(bash.TOOL, given, workspace) is Effect.ASK
    assert await effect(bash.TOOL, {"command": "cat hosts.yml"}, workspace) is Effect.ALLOW


@pytest.mark.parametrize(
    ("link", "target", "path"),
    [
        ("out", "/tmp", "out/x"),
        ("notes.md", ".git/hooks/pre-commit", "notes.md"),
        ("tools", ".git", "tools/hooks/post-merge"),
        ("a", "b/../.git/hooks", "a/x"),
        (".github", "plain", ".github/workflows/ci.yml"),
        ("rc", "../.bashrc", "rc"),
        ("keys", "../.ssh", "keys/authorized_keys"),
    ],
)
async def test_accepted_edits_do_not_lead_through_links(
    workspace: Workspace, link: str, target: str, path: str
) -> None:
    root = Path(workspace.root) / "project"
    project = Workspace(root=str(root), home=workspace.home)
    (root / "plain").mkdir()
    (root / link).symlink_to(target)
    for tool, given in (
        (write.TOOL, {"content": "x"}),
        (edit.TOOL, {"old_string": "a", "new_string": "b"}),
    ):
        found = await effect(tool, {"file_path": path, **given}, project, Mode.ACCEPT_EDITS)
        assert found is Effect.ASK
    given = {"file_path": "plain/x", "content": "x"}
    assert await effect(write.TOOL, given, project, Mode.ACCEPT_EDITS) is Effect.ALLOW
