"""What the offline guide understands."""

import time

import pytest

from agent_cli.models.guide.intents import Kind, Request, understand


def request(kind: Kind, /, **values: str) -> Request:
    return Request(kind, values)


UNDERSTOOD: list[tuple[str, Request]] = [
    ("show README.md", request("show", path="README.md")),
    ("Read the file “my notes.txt”.", request("show", path="my notes.txt")),
    (
        "can you show me src/app.py lines 10-20?",
        request("show", path="src/app.py", first="10", last="20"),
    ),
    ("what's in Makefile?", request("show", path="Makefile")),
    ("open @docs/a.md", request("show", path="docs/a.md")),
    ("list", request("list")),
    ("list files", request("list")),
    ("list files in src", request("list", path="src")),
    ("show me all files", request("list", deep="all")),
    ("list src recursively", request("list", path="src", deep="recursively")),
    ("what files are here?", request("list")),
    ("find files named *.py", request("find", name="*.py")),
    ("find python files", request("find", kind="python")),
    ("find test_login.py", request("find", name="test_login.py")),
    ("find src/**/*.ts", request("find", name="src/**/*.ts")),
    ("where is config.toml?", request("find", name="config.toml")),
    ("search for TODO", request("search", text="TODO")),
    ('search for "def main" in src', request("search", text="def main", path="src")),
    (r"grep /def \w+/ in src", request("search", text="/def \\w+/", path="src")),
    ("where is parse_args used?", request("search", text="parse_args")),
    ("find files containing secret sauce", request("search", text="secret sauce")),
    ("what changed?", request("changes")),
    ("what has changed in git", request("changes")),
    ("git status", request("changes")),
    ("show the diff", request("diff")),
    ("run ls -la .", request("run", command="ls -la .")),
    ("run `git log --oneline`", request("run", command="git log --oneline")),
    ("$ echo hi!", request("run", command="echo hi!")),
    ("run the tests", request("tests")),
    ("replace foo by bar in a.txt", request("swap", old="foo", new="bar", path="a.txt")),
    (
        "replace \"a b\" with 'c d' in `my file.txt`",
        request("swap", old="a b", new="c d", path="my file.txt"),
    ),
    ("change helo to hello in greet.py", request("swap", old="helo", new="hello", path="greet.py")),
    (
        "in greet.py replace helo with hello",
        request("swap", path="greet.py", old="helo", new="hello"),
    ),
    (
        "replace foo with bar everywhere",
        request("swap", old="foo", new="bar", everywhere="everywhere"),
    ),
    ("replace foo with bar", request("swap", old="foo", new="bar")),
    (
        "create notes.txt with hello world.",
        request("create", path="notes.txt", content="hello world."),
    ),
    ("create a.txt with:\none\ntwo\n", request("create", path="a.txt", content="one\ntwo")),
    (
        "create a file called a/b with the text: one",
        request("create", file="file", path="a/b", content="one"),
    ),
    ('write "hi" to x.txt', request("create", content="hi", path="x.txt")),
    ("delete old.txt", request("delete", path="old.txt")),
    ("undo that please", request("undo")),
    ("what can you do?", request("help")),
    ("tour", request("tour")),
    ("next", request("next")),
    ("how do I choose a real model?", request("setup")),
    ("看看 README.md", request("show", path="README.md")),
    ("请查看README.md的内容", request("show", path="README.md")),
    ("打开“我的 笔记.txt”", request("show", path="我的 笔记.txt")),
    ("读取 src/app.py 第10到20行", request("show", path="src/app.py", first="10", last="20")),
    ("列出文件", request("list")),
    ("列出 src 目录的文件", request("list", path="src")),
    ("这里有什么文件？", request("list")),
    ("src里有哪些文件", request("list", path="src")),
    ("查找 *.py 文件", request("find", name="*.py")),
    ("找一下所有python文件", request("find", kind="python")),
    ("搜索 TODO", request("search", text="TODO")),
    ("在 src 里搜索 def main", request("search", path="src", text="def main")),
    ("parse_args 在哪里定义", request("search", text="parse_args")),
    ("git 里改了什么？", request("changes")),
    ("有哪些改动", request("changes")),
    ("显示 diff", request("diff")),
    ("运行 ls -la", request("run", command="ls -la")),
    ("执行命令：git log", request("run", command="git log")),
    ("把 a.txt 里的 foo 替换成 bar", request("swap", path="a.txt", old="foo", new="bar")),
    ("在 greet.py 中把 helo 改成 hello", request("swap", path="greet.py", old="helo", new="hello")),
    ("把所有文件里的 foo 换成 bar", request("swap", everywhere="所有文件", old="foo", new="bar")),
    (
        "创建文件 notes.txt，内容为 你好 世界",
        request("create", path="notes.txt", content="你好 世界"),
    ),
    ("新建 a.txt 内容：一", request("create", path="a.txt", content="一")),
    ("删除 old.txt", request("delete", path="old.txt")),
    ("撤销", request("undo")),
    ("你能做什么？", request("help")),
    ("导览", request("tour")),
    ("下一步", request("next")),
    ("怎么选择模型", request("setup")),
]


@pytest.mark.parametrize(("text", "wanted"), UNDERSTOOD, ids=[text for text, _ in UNDERSTOOD])
def test_plain_requests_are_understood(text: str, wanted: Request) -> None:
    assert understand(text) == wanted


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
    assert understand(text) == Request("unknown")


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
