"""What the offline guide understands."""

import re
import string
import time

import pytest

from agent_cli.lib import language
from agent_cli.models.guide.phrases import PHRASES
from agent_cli.models.guide.wishes import (
    EVERYWHERE,
    Create,
    Delete,
    Diff,
    Find,
    Listing,
    Plain,
    Run,
    Search,
    Show,
    Swap,
    Wish,
    language_of,
    understand,
)

UNDERSTOOD: list[tuple[str, Wish]] = [
    ("show README.md", Show("README.md")),
    ("Read the file “my notes.txt”.", Show("my notes.txt")),
    ("can you show me src/app.py lines 10-20?", Show("src/app.py", 10, 20)),
    ("what's in Makefile?", Show("Makefile")),
    ("open @docs/a.md", Show("docs/a.md")),
    ("list", Listing()),
    ("list files", Listing()),
    ("list files in src", Listing("src")),
    ("show me all files", Listing(recursive=True)),
    ("list src recursively", Listing("src", recursive=True)),
    ("what files are here?", Listing()),
    ("find files named *.py", Find("**/*.py")),
    ("find python files", Find("**/*.py")),
    ("find test_login.py", Find("**/*test_login.py*")),
    ("find src/**/*.ts", Find("src/**/*.ts")),
    ("where is config.toml?", Find("**/*config.toml*")),
    ("search for TODO", Search("TODO")),
    ('search for "def main" in src', Search("def main", "src")),
    (r"grep /def \w+/ in src", Search(r"def \w+", "src", is_regex=True)),
    ("where is parse_args used?", Search("parse_args")),
    ("find files containing secret sauce", Search("secret sauce")),
    ("what changed?", Plain("changes")),
    ("what has changed in git", Plain("changes")),
    ("git status", Plain("changes")),
    ("show the diff", Diff()),
    ("run ls -la .", Run("ls -la .")),
    ("run `git log --oneline`", Run("git log --oneline")),
    ("$ echo hi!", Run("echo hi!")),
    ("run the tests", Plain("tests")),
    ("replace foo by bar in a.txt", Swap("foo", "bar", "a.txt")),
    ("replace \"a b\" with 'c d' in `my file.txt`", Swap("a b", "c d", "my file.txt")),
    ("change helo to hello in greet.py", Swap("helo", "hello", "greet.py")),
    ("in greet.py replace helo with hello", Swap("helo", "hello", "greet.py")),
    ("replace foo with bar everywhere", Swap("foo", "bar", EVERYWHERE)),
    ("replace foo with bar", Swap("foo", "bar")),
    ("create notes.txt with hello world.", Create("notes.txt", "hello world.")),
    ("create a.txt with:\none\ntwo\n", Create("a.txt", "one\ntwo")),
    ("create a file called a/b with the text: one", Create("a/b", "one")),
    ('write "hi" to x.txt', Create("x.txt", "hi")),
    ("delete old.txt", Delete("old.txt")),
    ("undo that please", Plain("undo")),
    ("what can you do?", Plain("help")),
    ("tour", Plain("tour")),
    ("next", Plain("next")),
    ("how do I choose a real model?", Plain("setup")),
    ("看看 README.md", Show("README.md")),
    ("请查看README.md的内容", Show("README.md")),
    ("打开“我的 笔记.txt”", Show("我的 笔记.txt")),
    ("读取 src/app.py 第10到20行", Show("src/app.py", 10, 20)),
    ("列出文件", Listing()),
    ("列出 src 目录的文件", Listing("src")),
    ("这里有什么文件？", Listing()),
    ("src里有哪些文件", Listing("src")),
    ("查找 *.py 文件", Find("**/*.py")),
    ("找一下所有python文件", Find("**/*.py")),
    ("搜索 TODO", Search("TODO")),
    ("在 src 里搜索 def main", Search("def main", "src")),
    ("parse_args 在哪里定义", Search("parse_args")),
    ("git 里改了什么？", Plain("changes")),
    ("有哪些改动", Plain("changes")),
    ("显示 diff", Diff()),
    ("运行 ls -la", Run("ls -la")),
    ("执行命令：git log", Run("git log")),
    ("把 a.txt 里的 foo 替换成 bar", Swap("foo", "bar", "a.txt")),
    ("在 greet.py 中把 helo 改成 hello", Swap("helo", "hello", "greet.py")),
    ("把所有文件里的 foo 换成 bar", Swap("foo", "bar", EVERYWHERE)),
    ("创建文件 notes.txt，内容为 你好 世界", Create("notes.txt", "你好 世界")),
    ("新建 a.txt 内容：一", Create("a.txt", "一")),
    ("删除 old.txt", Delete("old.txt")),
    ("撤销", Plain("undo")),
    ("你能做什么？", Plain("help")),
    ("导览", Plain("tour")),
    ("下一步", Plain("next")),
    ("怎么选择模型", Plain("setup")),
]


@pytest.mark.parametrize(("text", "wish"), UNDERSTOOD, ids=[text for text, _ in UNDERSTOOD])
def test_plain_requests_are_understood(text: str, wish: Wish) -> None:
    assert understand(text) == wish


@pytest.mark.parametrize(
    "text",
    [
        "explain this repository",
        "fix the bug",
        "make the tests pass",
        "create a website with a login",
        "write a function that sorts to help me",
        "find a bug in my code",
        "refactor the parser",
        "解释一下这个项目",
        "帮我修复登录测试",
    ],
)
def test_what_needs_understanding_is_not_taken_for_something_else(text: str) -> None:
    assert understand(text) == Plain("unknown")


@pytest.mark.parametrize(
    "text",
    [
        "replace " + "a by in " * 240,
        "search for " + "in in " * 320,
        "把" + "里的改成" * 450,
        "在" * 1_900,
        "what " * 390,
        "create " + "with with " * 20_000,
        "x" * 500_000,
    ],
    ids=lambda text: text[:16],
)
def test_no_text_keeps_the_guide_busy(text: str) -> None:
    start = time.process_time()
    understand(text)
    assert time.process_time() - start < 2


def test_the_language_is_the_one_that_was_spoken() -> None:
    assert language_of("show README.md") == "en"
    assert language_of("看看 README.md") == "zh"


@pytest.mark.parametrize("spoken", ["en", "zh"])
def test_a_word_of_no_language_is_answered_in_that_of_the_program(
    monkeypatch: pytest.MonkeyPatch, spoken: str
) -> None:
    monkeypatch.setattr(language, "_spoken", spoken)
    assert [language_of(text) for text in ("tour", "next", "?", "show README.md")] == [spoken] * 4
    assert language_of("show me the tour") == "en"
    assert language_of("导览") == "zh"


@pytest.mark.parametrize("key", PHRASES)
def test_every_phrase_says_the_same_in_both_languages(key: str) -> None:
    english, chinese = PHRASES[key]
    assert fields(english) == fields(chinese)
    words = re.sub(r"\{\w+\}|`[^`]*`", "", english)
    assert language_of(chinese) == "zh" or not re.search(r"[a-z]", words)


def fields(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
