"""The offline guide in real turns: the same loop, tools and permissions as any model."""

import subprocess
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent_cli.config.schema import Settings
from agent_cli.core.events import ApprovalAsked, TextDelta, ToolFinished, ToolStarted
from agent_cli.core.inbox import Approval
from agent_cli.core.policy import Mode
from agent_cli.core.session import Session
from agent_cli.lib import language
from agent_cli.models.guide import NAME
from agent_cli.runtime import LaunchOptions, open_session
from agent_cli.setup.key_store import KeyStore
from tests.kit.sessions import assert_valid, finish, of_type, play_turn

FILES = {
    "README.md": "# Shop\n\nSells things.\n",
    "src/app.py": "def main():\n    print('TODO')  # TODO: sell\n",
    "src/cart.py": "# TODO: count\n",
    "greet.py": "print('helo helo')\n",
    "文档.txt": "你好\n",
}

Answerer = Callable[[ApprovalAsked], Approval | None]


def yes(_: ApprovalAsked) -> Approval:
    return Approval(answer="once")


def no(_: ApprovalAsked) -> Approval:
    return Approval(answer="no", reason="not now")


@dataclass(frozen=True)
class Said:
    """What the guide answered, and how it came to it."""

    text: str
    tools: list[str]
    asked: list[ApprovalAsked]
    suggestion: str
    denials: int


@dataclass
class Guided:
    """A session with the guide."""

    session: Session
    workspace: Path

    async def say(self, text: str, answer: Answerer | None = None) -> Said:
        events = await play_turn(self, text, answer)
        ended = finish(events)
        assert ended.reason == "done", ended.error
        assert "".join(event.text for event in of_type(events, TextDelta)).endswith(ended.text)
        assert ended.usage.cost == 0
        assert_valid(self.session.messages)
        assert len(of_type(events, ToolStarted)) == len(of_type(events, ToolFinished))
        return Said(
            ended.text,
            [event.tool for event in of_type(events, ToolStarted)],
            of_type(events, ApprovalAsked),
            ended.suggestion,
            ended.denials,
        )


Opener = Callable[..., Guided]


@pytest.fixture
async def guide(tmp_path: Path) -> AsyncIterator[Opener]:
    workspace, home = tmp_path / "project", tmp_path / "home"
    workspace.mkdir()
    home.mkdir()
    for name, text in FILES.items():
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text(text, encoding="utf-8")
    opened: list[Session] = []

    def start(
        *, trust: bool = True, attended: bool = True, settings: Mapping[str, Any] | None = None
    ) -> Guided:
        session = open_session(
            LaunchOptions(cwd=workspace, trust=trust, attended=attended),
            Settings.model_validate({"model": NAME, **(settings or {})}),
            environment={"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin"},
        )
        opened.append(session)
        return Guided(session, workspace)

    yield start
    for session in opened:
        await session.close()


# ── what it does without asking ───────────────────────────────────────────────────────────────────

LOOKS: list[tuple[str, list[str], list[str]]] = [
    ("show README.md", ["Read"], ["`README.md`:", "```\n# Shop\n\nSells things.\n```"]),
    ("show src/app.py lines 2-2", ["Read"], ["```\n    print('TODO')  # TODO: sell\n```"]),
    ("what's in src?", ["Read", "ListFiles"], ["app.py", "cart.py"]),
    ("show nothing.txt", ["Read", "ListFiles"], ["That didn't work", "nothing.txt"]),
    ("list", ["ListFiles"], ["README.md"]),
    ("find python files", ["Glob"], ["src/cart.py"]),
    ("search for TODO", ["Grep"], ["src/cart.py"]),
    ("search for print('", ["Grep"], ["greet.py"]),
    ("search for TODO in src/cart.py", ["Grep"], ["TODO: count"]),
    ("run ls src", ["Bash"], ["cart.py"]),
    ("run cat missing.txt", ["Bash"], ["No such file"]),
    ("查看 文档.txt", ["Read"], ["`文档.txt`", "你好"]),
    ("列出 src 目录的文件", ["ListFiles"], ["app.py"]),
    ("查找 *.md 文件", ["Glob"], ["README.md"]),
    ("搜索 TODO", ["Grep"], ["src/cart.py"]),
    ("运行 ls src", ["Bash"], ["app.py"]),
    ("what can you do?", [], ["offline guide", "not a language model", "agent setup"]),
    ("你能做什么？", [], ["offline guide"]),
    ("explain the architecture", [], ["beyond me", "not a language model", "agent setup"]),
    ("解释一下架构", [], ["beyond me", "agent setup"]),
    ("run the tests", [], ["Which command"]),
    ("replace a by b", [], ["In which file?"]),
    ("next", [], ["no tour under way"]),
]


@pytest.mark.parametrize(("text", "tools", "expected"), LOOKS, ids=[row[0] for row in LOOKS])
async def test_a_look_needs_no_question(
    guide: Opener, text: str, tools: list[str], expected: list[str]
) -> None:
    said = await guide().say(text)
    assert said.tools == tools
    assert said.asked == []
    for words in expected:
        assert words in said.text


async def test_git_is_asked_what_changed(guide: Opener) -> None:
    guided = guide()
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *arguments], cwd=guided.workspace, check=True)
    (guided.workspace / "greet.py").write_text("print('hello')\n")
    said = await guided.say("git 里改了什么？")
    assert said.tools == ["Git info"]
    assert "modified (1):" in said.text
    assert "+print('hello')" in (await guided.say("show the diff")).text


async def test_a_long_file_is_shown_in_pages(guide: Opener) -> None:
    guided = guide()
    (guided.workspace / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 451)))
    said = await guided.say("show long.txt")
    assert "line 200\n" in said.text
    assert "line 201" not in said.text
    assert "`show long.txt lines 201-400`" in said.text
    said = await guided.say("show long.txt lines 401-600")
    assert "line 450" in said.text
    assert "To see more" not in said.text


async def test_a_file_full_of_fences_stays_in_its_own(guide: Opener) -> None:
    guided = guide()
    (guided.workspace / "a.md").write_text("```\nx\n````\ny\n")
    assert "`````\n```\nx\n````\ny\n`````" in (await guided.say("show a.md")).text


# ── what it does after asking ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text", ["replace helo by hello in greet.py", "把 greet.py 里的 helo 改成 hello"]
)
async def test_an_edit_reads_first_and_asks(guide: Opener, text: str) -> None:
    guided = guide()
    said = await guided.say(text, no)
    assert said.tools == ["Read", "Edit"]
    assert (guided.workspace / "greet.py").read_text() == FILES["greet.py"]
    assert said.text.endswith("Nothing was changed.")
    said = await guided.say(text, yes)
    assert len(said.asked) == 1
    assert (guided.workspace / "greet.py").read_text() == "print('hello hello')\n"
    assert said.text.endswith("`/undo` undoes it.")


@pytest.fixture
def in_chinese() -> Iterator[None]:
    language.use("zh")
    yield
    language.use("en")


@pytest.mark.usefixtures("in_chinese")
async def test_a_chinese_program_has_a_chinese_guide(guide: Opener) -> None:
    guided = guide()
    assert "offline guide" not in (await guided.say("what can you do?")).text
    made = await guided.say("把 greet.py 里的 helo 改成 hello", yes)
    assert "Done" not in made.text


async def test_replacing_everywhere_is_one_question(guide: Opener) -> None:
    guided = guide()
    said = await guided.say("replace TODO by $DONE everywhere", yes)
    assert said.tools == ["Replace"]
    assert len(said.asked) == 1
    assert (guided.workspace / "src/cart.py").read_text() == "# $DONE: count\n"


async def test_a_file_is_made_and_removed_after_a_yes(guide: Opener) -> None:
    guided = guide()
    made = guided.workspace / "a b.txt"
    said = await guided.say('create "a b.txt" with hello', yes)
    assert made.read_text() == "hello\n"
    assert "Done" in said.text
    said = await guided.say('delete "a b.txt"', no)
    assert made.exists()
    await guided.say('删除 "a b.txt"', yes)
    assert not made.exists()


async def test_a_dangerous_command_asks_and_a_catastrophic_one_is_refused(guide: Opener) -> None:
    guided = guide()
    said = await guided.say("run rm -rf src", no)
    assert "deletes 2 files" in said.asked[0].request.model_dump_json()
    assert (guided.workspace / "src").is_dir()
    said = await guided.say("run rm -rf /", yes)
    assert said.asked == []
    assert "this would delete everything on this machine" in said.text


async def test_plan_mode_is_named_as_the_reason(guide: Opener) -> None:
    guided = guide()
    guided.session.set_mode(Mode.PLAN)
    said = await guided.say("replace helo by hello in greet.py", yes)
    assert said.tools == ["Read"]
    assert "Edit isn't available in this mode" in said.text


# ── the tour ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("start", "further"), [("tour", "next"), ("导览", "下一步")])
@pytest.mark.parametrize("answer", [yes, no])
async def test_the_tour_finishes_whatever_is_answered(
    guide: Opener, start: str, further: str, answer: Answerer
) -> None:
    guided = guide()
    before = {path: path.read_bytes() for path in guided.workspace.rglob("*") if path.is_file()}
    steps = [await guided.say(start, answer)]
    while steps[-1].suggestion:
        steps.append(await guided.say(further, answer))
        assert len(steps) < 10
    assert [step.tools for step in steps] == [["Read"], ["Grep"], ["Edit"], ["Bash"], [], []]
    assert [len(step.asked) for step in steps] == [0, 0, 1, 1, 0, 0]
    assert "agent setup" in steps[-1].text
    (scratch,) = guided.session.workspace.added
    assert ("hello" in (Path(scratch) / "greet.py").read_text()) is (answer is yes)
    assert (Path(scratch) / "build").exists() is (answer is no)
    after = {path: path.read_bytes() for path in guided.workspace.rglob("*") if path.is_file()}
    assert after == before
    await guided.session.close()
    assert not Path(scratch).exists()


async def test_the_tour_waits_while_something_else_is_asked(guide: Opener) -> None:
    guided = guide()
    await guided.say("tour")
    assert "README.md" in (await guided.say("list")).text
    assert (await guided.say("next")).tools == ["Grep"]
    assert "tour is over" in (await guided.say("stop")).text
    assert "no tour under way" in (await guided.say("next")).text


async def test_without_a_person_the_tour_runs_through(guide: Opener) -> None:
    said = await guide(attended=False).say("tour")
    assert said.tools == ["Read", "Grep", "Edit", "Bash"]
    assert said.denials == 2
    assert "1 of 5" not in said.text
    assert "5 of 5" in said.text
    assert "The folder is still there." in said.text
    assert "Press Enter" not in said.text


async def test_the_tour_works_in_a_folder_that_is_not_trusted(guide: Opener) -> None:
    guided = guide(trust=False)
    steps = [await guided.say(text, yes) for text in ("tour", "next", "next", "next")]
    assert [len(step.asked) for step in steps] == [0, 0, 1, 1]


async def test_only_the_guide_gets_a_scratch_folder(tmp_path: Path) -> None:
    (tmp_path / "script").write_text('{"text": "hi"}')
    session = open_session(
        LaunchOptions(cwd=tmp_path, trust=True),
        Settings.model_validate({"model": f"scripted:{tmp_path / 'script'}"}),
        environment={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    try:
        assert session.workspace.added == ()
        session.use_model(NAME)
        said = await Guided(session, tmp_path).say("tour")
        assert "agent --model offline:guide" in said.text
    finally:
        await session.close()


async def test_a_kept_key_reaches_no_result(guide: Opener) -> None:
    key = "sk-kept-0123456789abcdefghij"
    guided = guide(settings={"mode": "yolo"})
    config = guided.workspace.parent / "home" / ".config" / "agent"
    KeyStore(config).keep("OPENAI_API_KEY", key)
    guided = guide(settings={"mode": "yolo"})
    said = await guided.say(f"run cat {config}/credentials.json")
    assert "OPENAI_API_KEY" in said.text
    assert key not in str(guided.session.messages)
