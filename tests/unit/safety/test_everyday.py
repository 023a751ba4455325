"""How often somebody who just looks around is asked, and that looking around is all it is."""

import os
import subprocess
from pathlib import Path

import pytest

from agent_cli.core.deciding.gatekeeper import judge
from agent_cli.core.deciding.rules import PatternBase, Rules
from agent_cli.core.policy import Effect, Mode, Policy
from agent_cli.core.tool_context import ShellInfo
from agent_cli.runtime import built_in_tools
from agent_cli.safety.paths import Workspace
from tests.kit.oracle import photograph

COMMANDS = (Path(__file__).parents[2] / "cases" / "everyday_commands.txt").read_text().splitlines()
RUNS_CODE = {"npm test", "pytest -q", "python3 -c 'print(1)'", "make -n", "docker ps"}
"""What runs code of the project, or talks to a daemon: these ask."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("everyday").resolve() / "project"
    (root / "src").mkdir(parents=True)
    files = {
        "README.md": "# It\n", "notes.txt": "x\n", "log.txt": "error: a\n", "data.csv": "a,1,200\n",
        "package.json": '{"name": "it"}\n', "src/app.py": "import os\n\n\ndef main(): ...\n",
        "src/b.py": "class B: ...  # TODO\n",
    }  # fmt: skip
    for name, text in files.items():
        (root / name).write_text(text)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run(["git", *identity, *arguments], cwd=root, check=True, env=environment)
    return root


async def effect(
    command: str,
    root: Path,
    mode: Mode = Mode.DEFAULT,
    *,
    sandboxed: bool = False,
    rules: Rules | None = None,
) -> Effect:
    workspace = Workspace(str(root), home=str(root.parent))
    place = PatternBase(root=str(root), home=str(root.parent))
    invocation = built_in_tools().find("Bash").bind({"command": command})
    decided = Policy(place, mode=mode, trusted=True, confines=sandboxed, rules=rules or Rules())
    return (await judge(invocation, workspace, ShellInfo(), decided))[1].effect


@pytest.mark.parametrize("command", COMMANDS)
async def test_is_asked_only_where_code_would_run(command: str, project: Path) -> None:
    wanted = Effect.ASK if command in RUNS_CODE else Effect.ALLOW
    assert await effect(command, project, sandboxed=True) is wanted
    in_plan = Effect.DENY if command in RUNS_CODE else Effect.ALLOW
    assert await effect(command, project, Mode.PLAN, sandboxed=True) is in_plan


async def test_a_rule_about_a_secret_file_leaves_the_rest_to_the_sandbox(project: Path) -> None:
    """Where commands can't read secret files, a rule that names one need not stop a search."""
    (project / ".env").write_text("x")
    loop = 'for f in src/*.py; do wc -l "$f"; done'
    for rule, held in (("Read(.env)", False), ("Read(~/.ssh/**)", False), ("Read(src/**)", True)):
        rules = Rules.parse(deny=[rule])
        for command in ("grep -rn x .", loop):
            decided = await effect(command, project, sandboxed=True, rules=rules)
            assert (decided is not Effect.ALLOW) is held, (rule, command)
        assert await effect("grep -rn x .", project, rules=rules) is not Effect.ALLOW
    (project / ".env").unlink()


async def test_most_of_them_need_no_sandbox(project: Path) -> None:
    unasked = [c for c in COMMANDS if await effect(c, project) is Effect.ALLOW]
    assert len(unasked) >= len(COMMANDS) * 2 // 3


async def test_they_change_nothing(project: Path) -> None:
    before = photograph(project)
    for command in set(COMMANDS) - RUNS_CODE:
        subprocess.run(
            ["/bin/bash", "--noprofile", "--norc", "-c", command],
            cwd=project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={"PATH": "/usr/bin:/bin", "HOME": str(project.parent), "GIT_OPTIONAL_LOCKS": "0"},
            timeout=30,
            check=False,
        )
    assert photograph(project) == before
