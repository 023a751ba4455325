"""Every state of the screen, compared with how it looked when somebody looked at it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent_cli.controller.answers import AnswerOption
from agent_cli.controller.controller import Controller
from agent_cli.controller.view import Menu, MenuRow
from agent_cli.core.display import DiffBlock, TerminalBlock, TextBlock
from agent_cli.core.inbox import ApprovalRequest, Choice, Question, QuestionRequest, Step
from agent_cli.frontends.tui.app import AgentApp
from agent_cli.frontends.tui.app_parts import trust_menu
from agent_cli.frontends.tui.blocks.banner_block import BannerBlock
from agent_cli.frontends.tui.blocks.base_block import Block
from agent_cli.frontends.tui.blocks.notice_block import ErrorBlock
from agent_cli.frontends.tui.blocks.prompt_block import PromptBlock
from agent_cli.frontends.tui.blocks.reply_block import ReplyBlock
from agent_cli.frontends.tui.modals.approval_modal import ApprovalModal
from agent_cli.frontends.tui.modals.guarded_modal import GuardedModal
from agent_cli.frontends.tui.modals.help_modal import HelpModal
from agent_cli.frontends.tui.modals.menu import MenuModal
from agent_cli.frontends.tui.modals.plan_modal import PlanModal
from agent_cli.frontends.tui.modals.question_modal import QuestionModal
from agent_cli.frontends.tui.screen_view import ScreenView
from agent_cli.frontends.tui.status import Status
from tests.kit import chat, snapshots
from tests.kit.sessions import SceneMaker
from tests.kit.shells import until
from tests.screens.app import app_of
from tests.screens.host import COMMANDS, at_once

LONG_DIFF = "--- a/app/shop.py\n+++ b/app/shop.py\n@@ -1,40 +1,40 @@\n" + "".join(
    f"-    total = total + price[{n}] * 1.19\n+    total += with_tax(price[{n}])\n"
    if n % 3
    else f"     # {n}\n"
    for n in range(40)
)
COMMAND = ApprovalRequest(
    id="1",
    call_id="1",
    tool="Bash",
    title="cd build && rm -rf * ../dist",
    reasons=("rm with -r and -f is destructive",),
    preview=TextBlock(text="cd build && rm -rf * ../dist", language="bash"),
    description="clean the build output",
    steps=(
        Step(text="cd build", note="inside the project"),
        Step(text="rm -rf * ../dist", note="deletes 213 files, 14 MB"),
    ),
    directory="~/src/shop",
    rule="Bash(rm -rf build/*)",
)
CHANGE = ApprovalRequest(
    id="1",
    call_id="1",
    tool="Edit",
    title="app/auth.py",
    reasons=("it is not read-only",),
    targets=("app/auth.py",),
    preview=DiffBlock(path="app/auth.py", diff=chat.DIFF, added=3, removed=1),
    rule="Edit(app/**)",
)
QUESTION = QuestionRequest(
    id="1",
    call_id="1",
    questions=(
        Question(
            text="Which database do the tests use?",
            choices=(
                Choice(label="SQLite", description="one file, nothing to start"),
                Choice(label="PostgreSQL", description="as in production"),
            ),
        ),
    ),
)
UNDO = Menu(
    "Undo 1 change?",
    (
        AnswerOption("no", "No, leave everything as it is", "n"),
        AnswerOption("yes", "Yes, undo", "y"),
    ),
    (
        MenuRow("Bash make clean", emphasis="muted"),
        MenuRow(""),
        MenuRow("build/app.js", "restored"),
        MenuRow("app/auth.py", "conflict: you changed the same lines since", "warning"),
    ),
)
PLAN = "1. Read `app/auth.py`\n2. Compare hashes, not passwords\n3. Run the tests\n"

Opener = Callable[..., AbstractAsyncContextManager[tuple[AgentApp, Pilot[int]]]]


@pytest.fixture
def opened(make_session: SceneMaker, monkeypatch: pytest.MonkeyPatch) -> Opener:
    """The app with some blocks in it, the same on every machine."""
    monkeypatch.setenv("AGENT_REDUCED_MOTION", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)

    async def stay(_: Controller) -> None:
        pass

    monkeypatch.setattr(Controller, "_warm_up", stay)
    monkeypatch.setattr(ScreenView, "greet", lambda _: None)
    name = "claude-sonnet-4-5"
    scene = make_session(settings={"model": name}, models={name: []})

    @asynccontextmanager
    async def start(
        *blocks: Block,
        size: tuple[int, int] = (100, 30),
        theme: str = "agent-dark",
        working: bool = False,
    ) -> AsyncIterator[tuple[AgentApp, Pilot[int]]]:
        app = app_of(scene, theme=theme)
        app.working._clock = lambda: 12.0 if app.working._started is not None else 0.0
        async with app.run_test(size=size) as pilot:
            await until(lambda: app.is_open)
            await pilot.pause()
            for block in (_banner(), *blocks):
                app.transcript.add(block)
            app.composer.status.status = _status(working)
            if working:
                app.working.start()
                app.working.update(tokens=1900)
            app.transcript.flush()
            await pilot.pause()
            yield app, pilot

    return start


def _banner() -> BannerBlock:
    return BannerBlock(
        place="~/src/shop", branch="main ±2", facts=["claude-sonnet-4-5", "default mode"]
    )


def _status(working: bool) -> Status:
    return Status(
        model="claude-sonnet-4-5",
        sandbox="bubblewrap",
        branch="main",
        context=0.21,
        cost=0.04,
        tokens_per_second=62.0 if working else None,
    )


async def _check(name: str, app: AgentApp, pilot: Pilot[int]) -> None:
    await pilot.pause()
    app.screen.refresh()
    await pilot.pause()
    strips = app.screen._compositor.render_strips()
    rows = ["".join(segment.text for segment in strip) for strip in strips]
    snapshots.check(name, app.export_screenshot(simplify=False), rows)


def _finished(*blocks: Block) -> list[Block]:
    for block in blocks:
        if isinstance(block, ReplyBlock):
            block.finish()
    return list(blocks)


def _turn() -> list[Block]:
    return _finished(
        PromptBlock("make the login test pass"),
        ReplyBlock("I'll look at the failing test first."),
        chat.call("Grep", '"def test_login" in tests/', summary="2 matches in 1 file", seconds=0.1),
        chat.call("Read", "tests/test_login.py 1-64", summary="Read 64 lines"),
        chat.edit(),
        chat.running(
            "Bash",
            "pytest -q tests/test_login.py",
            output="\x1b[32m....\x1b[31mF\x1b[0m..\n",
            seconds=3.4,
        ),
    )


def _tools() -> list[Block]:
    asking = chat.running("Bash", "rm -rf build", seconds=2.0)
    asking.asking()
    printed = "app/auth.py:3:1 F401 unused\nFound 1 error.\n"
    shown = TerminalBlock(command="ruff check .", output=printed, exit_code=1)
    missing = "There is no file app/nothing.py."
    return [
        PromptBlock("check everything"),
        chat.call("Read", "app/auth.py", summary="Read 64 lines"),
        chat.call("Bash", "ruff check .", failed="exit 1", summary="exit 1", display=[shown]),
        chat.call("Read", "app/nothing.py", failed=missing, summary=missing),
        asking,
        chat.running("Bash", "pytest -q", seconds=3.4),
    ]


def _parallel() -> list[Block]:
    names = ("app/auth.py", "app/views.py", "app/models/user.py")
    done = [chat.call("Read", name, summary="Read 64 lines", call_id=name) for name in names]
    return [
        PromptBlock("how do the parts work together?"),
        *done,
        chat.running("Agent", "find out who calls check()", seconds=8.0, call_id="a"),
        chat.call(
            "Grep", "check( in app/", summary="9 matches in 4 files", parent="a", call_id="b"
        ),
        chat.running("Read", "app/shop.py 1-200", seconds=0.3, parent="a", call_id="c"),
    ]


def _chinese() -> list[Block]:
    table = "| 名称 | 行 | 说明 |\n|:--|--:|:--|\n| app/认证.py | 4 | 比较哈希值 |\n| ab.py | 12 | 失败的测试 |\n"
    return _finished(
        PromptBlock("请修复登录测试，并解释原因"),
        ReplyBlock(f"我先看看失败的测试。\n\n{table}"),
        chat.call("Read", "文档/设计说明书.md 1-64", summary="Read 64 lines"),
    )


async def test_empty(opened: Opener) -> None:
    async with opened() as shown:
        await _check("empty", *shown)


async def test_streaming(opened: Opener) -> None:
    open_reply = ReplyBlock(
        "The test fails because **passwords are compared as text**.\n\n```python\ndef check("
    )
    async with opened(PromptBlock("why?"), open_reply, working=True) as shown:
        await _check("streaming", *shown)


async def test_a_finished_reply(opened: Opener) -> None:
    async with opened(*_finished(PromptBlock("why?"), ReplyBlock(chat.REPLY))) as shown:
        await _check("reply", *shown)


async def test_a_turn(opened: Opener) -> None:
    async with opened(*_turn(), working=True) as shown:
        await _check("turn", *shown)


async def test_tools_in_each_state(opened: Opener) -> None:
    async with opened(*_tools(), working=True) as shown:
        await _check("tools", *shown)


async def test_a_parallel_group(opened: Opener) -> None:
    async with opened(*_parallel(), working=True) as shown:
        await _check("parallel", *shown)


async def test_a_long_diff(opened: Opener) -> None:
    change = DiffBlock(path="app/shop.py", diff=LONG_DIFF, added=26, removed=26)
    block = chat.call("Edit", "app/shop.py", summary="+26 −26", display=[change])
    block.toggle()
    async with opened(PromptBlock("use with_tax"), block, size=(140, 40)) as shown:
        await _check("long-diff", *shown)


async def test_an_error(opened: Opener) -> None:
    error = ErrorBlock("No key for Anthropic.", "Set ANTHROPIC_API_KEY.")
    async with opened(PromptBlock("hello"), error) as shown:
        await _check("error", *shown)


async def test_a_message_that_waits_and_one_being_written(opened: Opener) -> None:
    async with opened(*_turn(), working=True) as (app, pilot):
        app.composer.queue.messages = ("then run the whole suite",)
        app.composer.prompt.replace_all("and tell me\nwhat you found")
        await _check("queue", app, pilot)


async def test_the_command_menu(opened: Opener) -> None:
    async with opened() as (app, pilot):
        app.composer._commands = lambda: COMMANDS
        await pilot.press("slash", "m")
        await _check("menu", app, pilot)


@pytest.mark.parametrize("size", [(60, 20), (240, 70)])
async def test_other_sizes(opened: Opener, size: tuple[int, int]) -> None:
    async with opened(*_turn(), size=size, working=True) as shown:
        await _check(f"turn-{size[0]}", *shown)


async def test_chinese(opened: Opener) -> None:
    async with opened(*_chinese()) as (app, pilot):
        app.composer.prompt.replace_all("再解释一下第二步")
        await _check("chinese", app, pilot)


@pytest.mark.parametrize("blocks", [_turn, _tools], ids=["turn", "tools"])
async def test_light(opened: Opener, blocks: Callable[[], Sequence[Block]]) -> None:
    async with opened(*blocks(), theme="agent-light", working=True) as shown:
        await _check(f"light-{blocks.__name__[1:]}", *shown)


MODALS: dict[str, Callable[[], GuardedModal[object]]] = {
    "command": lambda: ApprovalModal(
        COMMAND, runs="in the sandbox, in ~/src/shop", position="1 of 2", guard=at_once()
    ),
    "change": lambda: ApprovalModal(CHANGE, guard=at_once()),
    "question": lambda: QuestionModal(QUESTION, guard=at_once()),
    "plan": lambda: PlanModal(PLAN, guard=at_once()),
    "trust": lambda: MenuModal(
        trust_menu("~/src/shop", ("2 hooks in .agent/hooks.toml",)), guard=at_once()
    ),
    "undo": lambda: MenuModal(UNDO, guard=at_once()),
}


@pytest.mark.parametrize("name", MODALS)
@pytest.mark.parametrize("look", ["dark", "light", "narrow"])
async def test_modals(opened: Opener, name: str, look: str) -> None:
    theme = "agent-light" if look == "light" else "agent-dark"
    size = (60, 20) if look == "narrow" else (100, 30)
    async with opened(*_turn(), size=size, theme=theme) as (app, pilot):
        modal = MODALS[name]()
        app.push_screen(modal)
        async with asyncio.timeout(90):
            while not (modal.is_mounted and modal.guard.is_painted):
                await pilot.pause()
        await _check(f"modal-{name}-{look}", app, pilot)


async def test_help(opened: Opener) -> None:
    async with opened() as (app, pilot):
        app.push_screen(
            HelpModal([(f"/{each.name} {each.argument}", each.help) for each in COMMANDS])
        )
        await _check("help", app, pilot)


def test_no_snapshot_is_left_over() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    names = {path.stem for path in snapshots.PLACE.glob("*.txt")}
    made = {f"modal-{name}-{look}" for name in MODALS for look in ("dark", "light", "narrow")}
    made |= {"turn-60", "turn-240", "light-turn", "light-tools"}
    assert {name for name in names - made if f'_check("{name}"' not in text} == set()
