"""The command line as somebody with a Chinese locale reads it."""

import argparse
import json
import re
from collections.abc import Iterator

import pytest

from agent_cli.flags import SUBCOMMANDS, parser
from agent_cli.lib.language import use
from agent_cli.models.providers import PROVIDERS
from tests.kit.program import Program

LOCALE = {"LANG": "zh_CN.UTF-8"}
NAMES = {
    "Agent", "Client", "Protocol", "LiteLLM", "Schema", "Markdown", "bubblewrap", "Landlock", "kB",
    "bash", "zsh", "fish", "git", "shell", "eval", "compinit", "prune", "weather", "token", "int", "ok",
    "stream-json", "auto", "offline", "guide",
    *(word for provider in PROVIDERS for word in re.findall(r"\w+", provider.title)),
}  # fmt: skip
"""Names, and words that stand for something to be typed: the same in every language."""
CODE = re.compile(
    r"""\bagent(?:\ [a-z]+)*          # commands
    | ^\ +[a-z]+(?=\ \ )            # and their column
    | `[^`]*` | '[^']*' | "[^"]*"   # quotations
    | \{[^}]*\}                     # choices
    | (?<!\w)--?[\w-]+              # flags
    | \b[A-Z][A-Z0-9_-]+\b          # their values, and abbreviations
    | \S*[/=_$~]\S* | \.\w+        # paths and settings
    """,
    re.MULTILINE | re.VERBOSE,
)
MACHINE = re.compile(r"^(?:ok|! |!!) (?:python|软件包|bash|rg|git) .*\n", re.MULTILINE)
"""What other programs say about themselves."""


def left_over(text: str) -> list[str]:
    """The words that are neither Chinese nor names."""
    plain = CODE.sub(" ", MACHINE.sub("", text))
    return [word for word in re.findall(r"[A-Za-z][A-Za-z-]+", plain) if word not in NAMES]


def assert_chinese(text: str) -> None:
    assert re.search(r"[\u4e00-\u9fff]", text), f"no Chinese in: {text}"
    assert left_over(text) == [], text


def test_help(program: Program) -> None:
    done = program.run("--help", environment={**LOCALE, "COLUMNS": "80"})
    assert done.code == 0, done.err
    assert_chinese(done.out)


def test_the_help_of_every_command_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    use("zh")
    try:
        helps = [each.format_help() for each in parsers(parser(list(SUBCOMMANDS)))]
    finally:
        use("en")
    for text in helps:
        assert_chinese(text)
        assert [line for line in text.splitlines() if cells(line) > 80] == []


def parsers(top: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield top
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield from parsers(each)


def cells(line: str) -> int:
    return sum(2 if ord(sign) >= 0x2E80 else 1 for sign in line)


def test_the_doctor_speaks_and_its_json_stays_english(program: Program) -> None:
    done = program.run("doctor", environment={**LOCALE, "TERM": "vt100"})
    assert_chinese(done.out)
    told = program.run("doctor", "--offline", "--json", environment=LOCALE).out
    assert told.isascii()
    assert {"group", "name", "verdict", "measured"} < set(json.loads(told)["checks"][0])


def test_the_list_of_sessions(program: Program) -> None:
    model = program.script({"text": "好"})
    assert program.run("--model", model, "-p", "你好", environment=LOCALE).code == 0
    done = program.run("sessions", "list", environment=LOCALE)
    assert re.search(r" 1 轮  你好 ", done.out), done.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("--nonsense",), ("nonsense",), ("--model",), ("--permission-mode", "x"), ("--fork",),
        ("sessions", "list", "-n", "x"), ("sessions", "show"), ("sessions", "show", "x"),
        ("audit", "--since", "x"), ("--cwd", "/nowhere", "-p", "x"), ("trust",), ("-p", "x"),
    ],
)  # fmt: skip
def test_errors(program: Program, arguments: tuple[str, ...]) -> None:
    done = program.run(*arguments, environment=LOCALE)
    assert done.code == 2, done.out + done.err
    assert_chinese(done.err)


def test_the_questions_of_a_set_up(program: Program) -> None:
    done = program.run("setup", stdin="没有这个\n其他模型\n\n看看\n", environment=LOCALE)
    assert done.code == 0
    assert "offline:guide" in done.out
    assert_chinese(done.out)


def test_the_setting_counts_before_the_locale(program: Program) -> None:
    folder = program.home / ".config" / "agent"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('language = "en"\n')
    assert program.run("--help", environment=LOCALE).out.startswith("usage: ")
    (folder / "config.toml").write_text('language = "zh"\n')
    assert program.run("--help").out.startswith("用法：")
