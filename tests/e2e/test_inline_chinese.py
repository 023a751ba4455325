"""The inline prompt as somebody meets it first whose language is Chinese."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from tests.kit.program import Program
from tests.kit.terminal import AGENT, Terminal

ANSWERABLE = "Enter 确定"
BY_NUMBER = "请输入编号回答"
A_MOMENTS_LOOK = 0.6
"""Longer than a question must have been in view before a line can answer it."""
NAMES = """api plan
agent offline guide default mcp token shell bwrap landlock
enter esc ctrl alt shift tab
read edit bash rm rf notes txt helo hello build
setup undo all call last approve reconnect md html json
"""
"""What has one name in every language: ourselves, keys, tools, what was asked for, arguments."""


@contextmanager
def first_run(program: Program, *flags: str) -> Iterator[Terminal]:
    """Nothing is set, nothing is found: the language is the locale's, the model the guide."""
    (program.workspace / "notes.txt").write_text("helo\n")
    environment = program.environment({"LANG": "zh_CN.UTF-8"})
    with Terminal(
        [*AGENT, *flags], cwd=program.workspace, env=environment, size=(160, 140)
    ) as terminal:
        yield terminal


def english_in(shown: str, program: Program) -> list[str]:
    """Latin words that are no names, no slash commands, and no part of where we are."""
    known = {*NAMES.split(), *re.findall(r"[a-z]+", str(program.workspace).lower())}
    words = re.findall(r"(?<![/a-z])[a-z]{2,}", shown.lower())
    return [word for word in words if word not in known]


def test_the_first_run_is_chinese(program: Program) -> None:
    with first_run(program, "--inline") as terminal:
        terminal.wait_for("您信任这个文件夹吗？", "我信任它", ANSWERABLE)
        terminal.send("y")
        terminal.wait_for("离线向导", "default 模式")
        terminal.wait_gone(ANSWERABLE)
        terminal.send("读 notes.txt\r")
        terminal.wait_for("读取 1 行")
        terminal.send("把 notes.txt 里的 helo 改成 hello\r")
        asked = terminal.wait_for("做这个修改吗？", "询问原因", "仅此一次", "等待您", ANSWERABLE)
        terminal.send("y")
        changed = terminal.wait_for("完成。", "工具改动 1 个文件")
        terminal.send("运行 rm -rf build\r")
        risky = terminal.wait_for("运行这条命令吗？", "rm 会删除整个目录", ANSWERABLE)
        terminal.send("n")
        terminal.wait_for("没有任何改动")
        terminal.send("/help\r")
        shown = terminal.wait_for("按键", "命令", "/undo", "撤销上一轮对文件的改动", "取消一项固定")
    assert (program.workspace / "notes.txt").read_text() == "hello\n"
    for seen in (asked, changed, risky, shown):
        assert english_in(seen, program) == []


def test_it_is_chinese_for_a_screen_reader(program: Program) -> None:
    with first_run(program, "--screen-reader") as terminal:
        answer_by_number(terminal, "您信任这个文件夹吗？", "2", asked=1)
        terminal.wait_for("离线向导")
        terminal.send("运行 rm -rf build\n")
        answer_by_number(terminal, "运行这条命令吗？", "9", asked=2)
        terminal.wait_for("请用 1 到")
        answer_by_number(terminal, "运行这条命令吗？", "1", asked=3)
        shown = terminal.wait_for("您拒绝了", "没有任何改动")
    assert english_in(shown, program) == []


def answer_by_number(terminal: Terminal, heading: str, number: str, asked: int) -> None:
    """Read the `asked`-th question, then type the number of an answer."""
    terminal.wait_until(lambda text: heading in text and text.count(BY_NUMBER) >= asked)
    terminal.let_pass(A_MOMENTS_LOOK)
    terminal.send(f"{number}\n")
