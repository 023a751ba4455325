"""What the shape of the program promises."""

import subprocess
import sys
from pathlib import Path

import pytest

from agent_cli.config.example import example
from agent_cli.config.reference import reference
from tests.kit.program import AGENT

ROOT = Path(__file__).parent.parent
HEAVY = ("litellm", "textual", "mcp", "acp", "pydantic", "asyncio")


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_a_short_answer_loads_nothing_heavy(flag: str) -> None:
    code = (
        "import sys; sys.argv = ['agent', sys.argv[1]]\n"
        "from agent_cli.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, flag], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(("agent ", "usage: agent"))
    assert done.stderr.strip() == "[]"


def test_the_core_runs_without_litellm_and_textual() -> None:
    code = (
        "import sys, agent_cli.runtime, agent_cli.frontends.headless.start\n"
        "print([name for name in ('litellm', 'textual', 'mcp', 'openai') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_prompt_is_on_the_screen_before_the_rest_is_loaded() -> None:
    late = ("pydantic", "markdown_it", "agent_cli.runtime", "agent_cli.core.session")
    code = (
        "import sys, agent_cli.frontends.tui.start\n"
        f"print([name for name in {late!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_version_is_the_packages(tmp_path: Path) -> None:
    from agent_cli import __version__

    done = subprocess.run([AGENT, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"agent {__version__}\n"


def test_the_example_configuration_is_up_to_date() -> None:
    assert (ROOT / "config.example.toml").read_text(encoding="utf-8") == example()


def test_the_configuration_reference_is_up_to_date() -> None:
    assert (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8") == reference()


def test_every_package_and_module_says_what_it_is_for() -> None:
    for path in sorted((ROOT / "agent_cli").rglob("*.py")):
        assert path.read_text(encoding="utf-8").startswith('"""'), path
