"""What the shape of the program promises."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_cli.config.example import example
from agent_cli.config.settings_reference import reference
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


MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
LONGER = {}
"""Files and functions over the limit, and why."""


def test_files_and_functions_stay_short() -> None:
    files = {file: text.count("\n") for file, text in sources().items()}
    longer = {file for file, lines in files.items() if lines > MAX_FILE_LINES}
    longer |= {
        f"{file}:{name}"
        for file, text in sources().items()
        for name, node in functions(ast.parse(text))
        if (node.end_lineno or 0) - node.lineno + 1 > MAX_FUNCTION_LINES
    }
    assert longer == set(LONGER)


STARTERS = {"run_worker", "create_task", "ensure_future", "push_screen_wait"}
"""Whatever starts something that fails where nobody looks."""
GUARDED = {
    "controller/background.py:Background.start": "catches, tells and logs whatever fails",
    "controller/controller.py:Controller.play": "catches, tells and logs whatever fails",
    "frontends/acp/json_lines.py:JsonLines.over": "only waits for a pipe to close; ended by close",
    "frontends/tui/guarded_app.py:run_in_background": "catches, tells and logs whatever fails",
}
"""The only places that may start a task, and what happens to its errors."""


def test_nothing_is_started_without_a_guard() -> None:
    found = {
        f"{file}:{name}"
        for file, text in sources().items()
        if file.startswith(("frontends/", "controller/"))
        for name, node in functions(ast.parse(text))
        if starts_work(node)
    }
    assert found == set(GUARDED)


def sources() -> dict[str, str]:
    """The text of each module, by its path in the package."""
    package = ROOT / "agent_cli"
    return {
        path.relative_to(package).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(package.rglob("*.py"))
    }


Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.AST, within: str = "") -> Iterator[tuple[str, Function]]:
    """Each function that is not inside of another, by its qualified name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield within + node.name, node
        else:
            name = f"{within}{node.name}." if isinstance(node, ast.ClassDef) else within
            yield from functions(node, name)


def starts_work(function: Function) -> bool:
    """Whether it refers to a starter, or is one by its decorator."""
    return any(
        getattr(node, "attr", getattr(node, "id", "")) in STARTERS for node in ast.walk(function)
    ) or any("work" in ast.unparse(each).split("(")[0] for each in function.decorator_list)
