"""The screen in Chinese: nothing English is left on it, and every column stands where it should.

`UPDATE_SNAPSHOTS=1` writes the snapshots anew once the catalogue has changed.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from agent_cli.commands import all_commands
from agent_cli.controller.controller import Controller
from agent_cli.controller.wording import number_of
from agent_cli.core.display import TodoItem
from agent_cli.core.events import ApprovalAsked
from agent_cli.core.inbox import Approval, ApprovalRequest
from agent_cli.core.policy import Mode
from agent_cli.frontends.shared.approval_text import where
from agent_cli.frontends.shared.trusting import describe_items, trust_items
from agent_cli.frontends.tui.app import AgentApp
from agent_cli.frontends.tui.app_parts import trust_menu
from agent_cli.frontends.tui.blocks.base_block import Block
from agent_cli.frontends.tui.blocks.prompt_block import PromptBlock
from agent_cli.frontends.tui.modals import sessions_modal
from agent_cli.frontends.tui.modals.approval_modal import ApprovalModal
from agent_cli.frontends.tui.modals.guarded_modal import GuardedModal
from agent_cli.frontends.tui.modals.menu import MenuModal
from agent_cli.frontends.tui.modals.sessions_modal import SessionsModal
from agent_cli.frontends.tui.modals.sheet import Sheet
from agent_cli.frontends.tui.panel import ChangedFile, Overview
from agent_cli.frontends.tui.status import Status
from agent_cli.lib import language
from agent_cli.storage.session_store import Sessions
from tests.kit import chat, snapshots
from tests.kit.sessions import Scene, SceneMaker, of_type
from tests.kit.shells import until
from tests.screens.app import app_of
from tests.screens.host import at_once, screen_text

MODEL = "claude-sonnet-4-5"
SHOP = "~/src/shop"
PROPER = {"agent git token shell bubblewrap Markdown HTML JSON MCP md html json"}
"""Names that are the same in every language."""
KEYS = {"Enter Esc Tab Ctrl Alt Shift PageUp PageDown enter esc tab ctrl"}
TOOLS = {"Bash Edit Read"}

sizes = pytest.mark.parametrize("size", [(100, 30), (60, 20)], ids=["wide", "narrow"])


@pytest.fixture(autouse=True)
def chinese(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Speak Chinese, on a screen that looks the same on every machine."""
    monkeypatch.setenv("AGENT_REDUCED_MOTION", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)

    async def stay(_: Controller) -> None:
        pass

    monkeypatch.setattr(Controller, "_warm_up", stay)
    language.use("zh")
    yield
    language.use("en")


@dataclass
class Stage:
    """The app with its pilot."""

    app: AgentApp
    pilot: Pilot[int]

    async def show(self, modal: Screen[Any]) -> None:
        """Put a modal on the screen, and wait until it can be read."""
        self.app.push_screen(modal)
        async with asyncio.timeout(90):
            while not (modal.is_mounted and _is_painted(modal)):
                await self.pilot.pause()

    async def check(self, name: str, *own: str, hidden: Mapping[str, str] | None = None) -> None:
        """Compare with the snapshot; no word is English but what the test itself put there."""
        await self.pilot.pause()
        self.app.screen.refresh()
        await self.pilot.pause()
        svg, text = self.app.export_screenshot(simplify=False), screen_text(self.app)
        for changing, fixed in (hidden or {}).items():
            svg, text = svg.replace(changing, fixed), text.replace(changing, fixed)
        snapshots.check(f"zh/{name}-{self.app.size.width}", svg, text.split("\n"))
        assert english_on(text, *own) == set()


def english_on(text: str, *own: str) -> set[str]:
    """The Latin words of a screen that are neither names nor somebody's own."""
    commands = {f"{each.name} {each.argument}" for each in all_commands()}
    known = {*PROPER, *KEYS, *TOOLS, *(mode.value for mode in Mode), *commands, MODEL, *own}
    return _words(text) - set().union(*map(_words, known))


def _words(text: str) -> set[str]:
    """All but those that are cut off, by an ellipsis or by the border of what lies above."""
    inside = re.sub(r"(?m)^.*?(?=[╭╰]─|│.*│)|(?<=─[╮╯]).*$", "", text)
    whole = re.sub(r"\w*…\w*", "", inside)
    return set(re.findall(r"[A-Za-z]{2,}", whole))


def _is_painted(modal: Screen[Any]) -> bool:
    return not isinstance(modal, GuardedModal) or modal.guard.is_painted


@asynccontextmanager
async def stage(
    scene: Scene, size: tuple[int, int], *blocks: Block, working: bool = False
) -> AsyncIterator[Stage]:
    """The app after its greeting, with some blocks in it."""
    app = app_of(scene, theme="agent-dark")
    app.working._clock = lambda: 12.0 if app.working._started is not None else 0.0
    async with app.run_test(size=size) as pilot:
        await until(lambda: app.is_open)
        await pilot.pause()
        for block in blocks:
            app.transcript.add(block)
        app.composer.status.status = Status(
            model=MODEL,
            sandbox="none",
            context=0.21,
            cost=0.04,
            elapsed=12.0 if working else None,
            tokens_per_second=62.0 if working else None,
        )
        if working:
            app.working.start()
            app.working.update(tokens=1900)
        app.transcript.flush()
        await pilot.pause()
        yield Stage(app, pilot)


def scene_of(make_session: SceneMaker) -> Scene:
    """A session in a folder whose name is short, and the same everywhere."""
    make_session.workspace = make_session.home / "src" / "shop"
    make_session.workspace.mkdir(parents=True, exist_ok=True)
    return make_session(settings={"model": MODEL}, models={MODEL: []})


async def asked(
    make_session: SceneMaker, files: Mapping[str, str], *calls: Mapping[str, Any]
) -> ApprovalRequest:
    """What a real session asks about the last of these calls, as if it was asked in the shop."""
    steps = [{"calls": [call]} for call in calls]
    scene = make_session(*steps, {"text": "好。"}, files=files, settings={"sandbox": "off"})
    events = await scene.play("开始", answer=lambda _: Approval())
    request = of_type(events, ApprovalAsked)[-1].request
    told = moved(request.model_dump(), str(scene.workspace))
    return ApprovalRequest.model_validate(told).model_copy(update={"sandbox": "bubblewrap"})


def moved(value: Any, root: str) -> Any:
    """The same, as if it had happened in the shop."""
    match value:
        case str():
            return value.replace(root, SHOP)
        case dict():
            return {name: moved(each, root) for name, each in value.items()}
        case list() | tuple():
            return [moved(each, root) for each in value]
        case _:
            return value


@sizes
async def test_the_opening(make_session: SceneMaker, size: tuple[int, int]) -> None:
    async with stage(scene_of(make_session), size) as shown:
        await shown.check("opening", SHOP)


@sizes
async def test_asking_about_a_change(make_session: SceneMaker, size: tuple[int, int]) -> None:
    code = "def price(n):\n    return n * 1.19\n"
    edit = {"file_path": "tax.py", "old_string": "1.19", "new_string": "TAX"}
    request = await asked(
        make_session,
        {"tax.py": code},
        {"name": "Read", "arguments": {"file_path": "tax.py"}},
        {"name": "Edit", "arguments": edit},
    )
    async with stage(scene_of(make_session), size) as shown:
        await shown.show(
            ApprovalModal(request, runs=where(request), position=number_of(1, 2), guard=at_once())
        )
        await shown.check("change", code, SHOP, "TAX", "tax.py")


@sizes
async def test_asking_about_a_dangerous_command(
    make_session: SceneMaker, size: tuple[int, int]
) -> None:
    command = "cd build && rm -rf old"
    request = await asked(
        make_session,
        {"build/old/a.txt": "a\n"},
        {"name": "Bash", "arguments": {"command": command, "description": "清理构建结果"}},
    )
    async with stage(scene_of(make_session), size) as shown:
        await shown.show(ApprovalModal(request, runs=where(request), guard=at_once()))
        await shown.check("command", command, SHOP, "a.txt")


@sizes
async def test_asking_for_trust(make_session: SceneMaker, size: tuple[int, int]) -> None:
    files = {"AGENTS.md": "用中文回答。\n", ".agent/config.toml": 'model = "offline"\n'}
    make_session.write(files)
    items = trust_items(make_session.workspace)
    assert items
    root = str(make_session.workspace)
    enables = describe_items(
        tuple(replace(item, path=item.path.replace(root, SHOP)) for item in items)
    )
    async with stage(scene_of(make_session), size) as shown:
        await shown.show(MenuModal(trust_menu(SHOP, enables), guard=at_once()))
        await shown.check("trust", SHOP, *files, *files.values())


@sizes
async def test_help(make_session: SceneMaker, size: tuple[int, int]) -> None:
    async with stage(scene_of(make_session), size) as shown:
        shown.app.controller.run_command("help")
        await shown.pilot.pause()
        sheet = shown.app.screen.query_one(Sheet)
        while not sheet.is_at_end:
            await shown.pilot.press("pagedown")
            assert english_on(screen_text(shown.app), SHOP) == set()


@sizes
async def test_choosing_a_session(
    make_session: SceneMaker, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    later = SimpleNamespace(time=lambda: time.time() + 7_300)
    monkeypatch.setattr(sessions_modal, "time", later)
    make_session.workspace = make_session.home / "src" / "shop"
    make_session.workspace.mkdir(parents=True)
    other = make_session({"text": "改好了。"})
    await other.play("修复登录测试")
    await other.session.close()
    scene = scene_of(make_session)
    async with stage(scene, size) as shown:
        index = Sessions(scene.home / ".local/state/agent")
        await shown.show(SessionsModal(index, str(scene.workspace)))
        await until(lambda: "改好了" in screen_text(shown.app))
        identity = other.session.id
        hidden = {identity: "0" * len(identity)}
        await shown.check("sessions", SHOP, "scripted", hidden=hidden)


@sizes
async def test_what_an_undo_would_do(make_session: SceneMaker, size: tuple[int, int]) -> None:
    command = "rm a.txt; echo new > b.txt; echo agent > c.txt"
    call = {"name": "Bash", "arguments": {"command": command}}
    scene_of(make_session)  # in the shop
    done = make_session(
        {"calls": [call]},
        {"text": "好。"},
        settings={"mode": "yolo"},
        files={"a.txt": "1\n", "c.txt": "before\n"},
    )
    await done.play("开始")
    (done.workspace / "c.txt").write_text("mine\n")
    async with stage(done, size) as shown:
        shown.app.controller.run_command("undo turn")
        await until(lambda: isinstance(shown.app.screen, MenuModal))
        await until(lambda: _is_painted(shown.app.screen))
        await shown.check("undo", command, SHOP, "scripted")


@sizes
async def test_the_side_panel(make_session: SceneMaker, size: tuple[int, int]) -> None:
    todo = (
        TodoItem(text="阅读失败的测试", status="completed"),
        TodoItem(text="比较哈希值，而不是密码", status="in_progress"),
        TodoItem(text="运行所有测试", status="pending"),
    )
    async with stage(scene_of(make_session), size) as shown:
        shown.app.action_panel()
        shown.app.body.panel.tell(Overview(todo, {"app/auth.py": ChangedFile(3, 1)}))
        await shown.check("panel", SHOP, "app/auth.py")


@sizes
async def test_a_turn_under_way(make_session: SceneMaker, size: tuple[int, int]) -> None:
    waiting = chat.running("Bash", "rm -rf build", seconds=2.0, status="")
    waiting.asking()
    blocks = [
        PromptBlock("让登录测试通过"),
        chat.edit(),
        chat.running("Bash", "pytest -q", seconds=3.4, status=""),
        waiting,
    ]
    async with stage(scene_of(make_session), size, *blocks, working=True) as shown:
        await shown.check("working", SHOP, chat.DIFF, "pytest", "rm -rf build")
