"""What the documentation shows can be typed, loaded and followed."""

import contextlib
import io
import re
import tomllib
from pathlib import Path

import pytest

from agent_cli.config.layers import leaves, load
from agent_cli.config.schema import ModelSettings, Settings
from agent_cli.extensions.mcp.spec import read_servers
from agent_cli.flags import parser
from tests.kit.documents import PAGES, Command, blocks, commands, links
from tests.kit.program import ROOT, Program

COMMANDS = list(commands())
EXAMPLES = [
    pytest.param(text, id=f"{page.name}-{number}")
    for page in PAGES
    for number, text in enumerate(blocks(page, "toml"))
    if "project" not in tomllib.loads(text)  # a package's own pyproject.toml
]
FINE = frozenset({0})
HARMLESS = {
    ("--help",): FINE,
    ("--version",): FINE,
    ("acp", "--help"): FINE,
    ("audit",): FINE,
    ("check",): frozenset({0, 10, 11}),
    ("checkpoints",): FINE,
    ("completions",): FINE,
    ("config",): FINE,
    ("doctor", "--offline"): frozenset({0, 1}),
    ("mcp", "list"): FINE,
    ("new",): FINE,
    ("plugins", "list"): FINE,
    ("sessions", "list"): FINE,
    ("sessions", "search"): FINE,
    ("stats",): FINE,
    ("trust", "--list"): FINE,
}
"""What is run as it stands, and how it may end. What talks to a model is run with a scripted one."""


def harmless(command: Command) -> frozenset[int] | None:
    for beginning, codes in HARMLESS.items():
        if command.arguments[: len(beginning)] == beginning:
            return codes
    return FINE if "-p" in command.arguments and "-r" not in command.arguments else None


RUNNABLE = {
    command.arguments: command
    for command in COMMANDS
    if command.stands_alone
    and harmless(command) is not None
    and command.page != "README.zh.md"  # the same as in README.md, which another test says
}


def test_there_is_something_to_check() -> None:
    assert len(EXAMPLES) >= 6
    assert len(COMMANDS) >= 60
    assert len(RUNNABLE) >= 15


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_configuration_is_loaded(text: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text, encoding="utf-8")
    loaded = load(user_file=file, project_file=None, environment={}, flags={})
    assert loaded.origins
    assert loaded.warnings == ()
    assert read_servers({"config.toml": loaded.settings.mcp.servers}).problems == ()


def test_every_line_of_the_example_file_can_be_switched_on(tmp_path: Path) -> None:
    lines = (ROOT / "config.example.toml").read_text(encoding="utf-8").splitlines()
    names = {*ModelSettings.model_fields, *(key.rpartition(".")[2] for key, _ in leaves())}
    setting = re.compile(rf"(?:# )?((?:{'|'.join(names)}) = .+|\[.+\])$")
    found = [match[1] for match in map(setting.match, lines) if match]
    file = tmp_path / "config.toml"
    file.write_text("\n".join(found), encoding="utf-8")
    loaded = load(user_file=file, project_file=None, environment={}, flags={})
    assert len(loaded.origins) > 40
    settings = loaded.settings.model_dump(exclude={"models"})
    assert settings == Settings().model_dump(exclude={"models"})


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_a_command_line_is_understood(command: Command) -> None:
    said = io.StringIO()
    arguments = list(command.arguments)
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            parser(arguments).parse_args(arguments)
    except SystemExit as end:
        is_only_mentioned = not command.stands_alone and "are required" in said.getvalue()
        assert end.code == 0 or is_only_mentioned, said.getvalue()


@pytest.mark.parametrize("command", RUNNABLE.values(), ids=str)
def test_a_harmless_command_line_runs(command: Command, program: Program) -> None:
    arguments = list(command.arguments)
    stdin = None
    if "-p" in arguments:
        model = ("--model", program.script({"text": "An answer."}))
        if "-c" in arguments:
            assert program.run("-p", "before", *model).code == 0
        arguments += model
        stdin = "the input"
    elif "--jsonl" in arguments:
        stdin = '{"id": 1, "command": "ls"}\n'
    done = program.run(*arguments, stdin=stdin)
    assert done.code in (harmless(command) or FINE), done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    lost = [to for to in links(page) if not (page.parent / to.partition("#")[0]).exists()]
    assert lost == []
