"""`agent doctor` as a person and a script run it."""

import json
import termios

from tests.kit.model_server import Reply, running_server
from tests.kit.program import Program
from tests.kit.terminal import AGENT, Terminal

KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789"


def test_a_healthy_installation_passes_and_the_model_is_asked(program: Program) -> None:
    with running_server(Reply("ok")) as server:
        done = program.run(
            "doctor",
            "--json",
            environment={
                "AGENT_MODEL": "openai/gpt-4o",
                "AGENT_API_BASE": f"{server.url}/v1",
                "OPENAI_API_KEY": KEY,
                "TERM": "xterm-256color",
            },
            timeout=120,
        )
        assert len(server.requests) == 1
    told = json.loads(done.out)
    checks = {check["name"]: check for check in told["checks"]}
    assert {name: c for name, c in checks.items() if c["verdict"] == "problem"} == {}
    assert done.code == 0
    assert told["ok"] is True
    assert "openai/gpt-4o answered in" in checks["answers"]["measured"]
    assert checks["keys"]["measured"] == "OPENAI_API_KEY"
    assert KEY not in done.out + done.err
    for name in ("python", "packages", "rg", "git", "bash", "sandbox", "disk", "permissions"):
        assert checks[name]["measured"], name


def test_what_is_wrong_is_told_with_what_to_do(program: Program) -> None:
    folder = program.home / ".config" / "agent"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("model = \n")
    done = program.run("doctor", "--offline")
    assert done.code == 1
    assert "!! configuration" in done.out
    assert "config.toml" in done.out
    assert "Traceback" not in done.err


def test_without_a_model_the_remedy_is_to_choose_one(program: Program) -> None:
    done = program.run("doctor")
    assert done.code == 0, "the guide works without one"
    assert "!  answers" in done.out
    assert "No model chosen" in done.out
    assert "agent setup" in done.out


def test_a_terminal_that_does_not_answer_is_not_waited_for(program: Program) -> None:
    argv = (*AGENT, "doctor", "--offline")
    with Terminal(argv, cwd=program.workspace, env=program.environment(), size=(100, 60)) as shown:
        before = shown.local_modes()
        shown.wait_for("100 × 60", "report its cursor position", "standard: Alt+Enter")
        assert shown.wait_end() == 0
        assert shown.local_modes() & termios.ECHO == before & termios.ECHO
