"""How quick the screen is: at the start, while a reply streams, after thousands of blocks, idle."""

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.rows import Row, at_most, for_information
from bench.screen_program import ON_SCREEN, ScreenProgram
from bench.timing import ratio, samples

ROOT = Path(__file__).parents[1]
STARTS = 3
STREAMS = 2
KEYS = 50
FEW, MANY = 50, 5_000
IDLE = 6.0
PIECES = 500
SESSION_OPEN = b"palette"
"""Stands in the status line once there is something to tell."""

HELLO = """
from textual.app import App
from textual.widgets import Input, Markdown

class Hello(App):
    AUTO_FOCUS = "Input"

    def compose(self):
        yield Markdown("# Hello")
        yield Input()

    def on_mount(self):
        self.query_one(Input).focus()

Hello().run()
"""
FILLED = """
import os, time
from agent_cli.cli import main
from agent_cli.frontends.tui.app import AgentApp
from agent_cli.frontends.tui.blocks.reply_block import ReplyBlock
from agent_cli.frontends.tui.chat import Chat

greet = Chat.greet

def block():
    made = ReplyBlock("The quick brown fox jumps over the lazy dog. " * 11)
    made.finish()
    return made

def filled(chat):
    greet(chat)
    for _ in range(int(os.environ["BLOCKS"])):
        chat._transcript.add(block())

async def append(app):
    times = []
    for _ in range(40):
        started = time.perf_counter()
        app.widgets.transcript.add(block())
        app.widgets.transcript.flush()
        app.screen._compositor.render_strips()
        times.append(time.perf_counter() - started)
    app.notify(f"median {sorted(times)[20] * 1e6:.0f} us", markup=False)

Chat.greet = filled
AgentApp.action_help = append
main()
"""


def run() -> list[Row]:
    """All of it, each beside what it is compared with."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        return [*_starts(place), *_streaming(place), *_blocks(place), *_idle(place)]


def _starts(place: Path) -> list[Row]:
    def until_echo(argv: Sequence[str]) -> float:
        with _program(argv, place) as program:
            program.wait_for(ON_SCREEN)
            program.echo()
            return program.elapsed()

    rivals = {
        "hello": lambda: until_echo([sys.executable, "-c", HELLO]),
        "agent": lambda: until_echo(_agent(place)),
    }
    taken = samples(rivals, STARTS)
    return [
        for_information("hello-world app, key echoed", _median(taken["hello"]) * 1000, "ms"),
        for_information("agent, key echoed", _median(taken["agent"]) * 1000, "ms"),
        at_most("agent / hello-world app", ratio(taken["agent"], taken["hello"]), "×", 1.5),
    ]


def _streaming(place: Path) -> list[Row]:
    idle: list[float] = []
    busy: list[float] = []
    for _ in range(STREAMS):
        with _program(_agent(place, _reply()), place) as program:
            _settle(program)
            idle += program.echoes(KEYS)
            program.send("\x03")
            _begin(program, "go\r", "word")
            busy += program.echoes(KEYS)
    return [
        for_information("echo, idle, median", _median(idle) * 1000, "ms"),
        for_information("echo, idle, p95", _p95(idle) * 1000, "ms"),
        at_most("echo while streaming, median", _median(busy) * 1000, "ms", 10),
        at_most("echo while streaming, p95 above idle", (_p95(busy) - _p95(idle)) * 1000, "ms", 40),
    ]


def _blocks(place: Path) -> list[Row]:
    echo: dict[int, list[float]] = {}
    append: dict[int, float] = {}
    memory: dict[int, int] = {}
    for count in (FEW, MANY):
        argv = [sys.executable, "-c", FILLED, *_agent(place)[3:]]
        with _program(argv, place, {"BLOCKS": str(count)}) as program:
            _settle(program)
            echo[count] = program.echoes(KEYS)
            memory[count] = program.memory()
            position = len(program.written)
            program.send("\x1bOP")
            program.wait_for(b" us", position)
            words = bytes(program.written[position:]).rpartition(b" us")[0]
            append[count] = float(words.split()[-1])
    kept = (memory[MANY] - memory[FEW]) / (MANY - FEW) / 1000
    return [
        for_information(f"echo p95 at {FEW} blocks", _p95(echo[FEW]) * 1000, "ms"),
        at_most(f"echo p95 at {MANY} / {FEW} blocks", _p95(echo[MANY]) / _p95(echo[FEW]), "×", 1.5),
        for_information(f"append at {FEW} blocks", append[FEW] / 1000, "ms"),
        at_most(f"append at {MANY} / {FEW} blocks", append[MANY] / append[FEW], "×", 1.5),
        at_most("memory of a block of 500 characters", kept, "kB", 10),
    ]


def _idle(place: Path) -> list[Row]:
    with _program(_agent(place), place) as program:
        _settle(program)
        program.pass_time(2)
        before = program.cpu_seconds()
        program.pass_time(IDLE)
        used = (program.cpu_seconds() - before) / IDLE
    return [at_most("idle, of one processor", used * 100, "%", 0.5)]


def _program(
    argv: Sequence[str], place: Path, extra: dict[str, str] | None = None
) -> ScreenProgram:
    path = os.environ.get("PATH", os.defpath)
    env = {"PATH": path, "HOME": str(place), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
    return ScreenProgram(argv, place, {**env, **(extra or {})})


def _agent(place: Path, step: dict[str, object] | None = None) -> list[str]:
    script = place / "script.jsonl"
    script.write_text(json.dumps(step or {"text": "hi"}), encoding="utf-8")
    return [sys.executable, "-m", "agent_cli", "--trust", "--model", f"scripted:{script}"]


def _reply() -> dict[str, object]:
    """A reply of 20,000 characters with paragraphs, lists and code."""
    part = (
        "A paragraph with **bold** and `code`, " + "some word and another " * 8 + ".\n\n"
        "- one word\n- two words\n- three words\n\n"
        "```python\ndef check(user, password):\n    return verify(password, user.hash)\n```\n\n"
    )
    text = (part * (20_000 // len(part) + 1))[:19_980] + "\n```\n\ntheend"
    return {"text": text, "pieces": PIECES, "delay": 1 / 200}


def _settle(program: ScreenProgram) -> None:
    """Wait until it is on the screen, with a session, and has nothing more to draw."""
    program.wait_for(ON_SCREEN)
    program.echo()
    program.wait_for(SESSION_OPEN)
    while program.watch(0.5):
        pass
    program.send("\x7f")
    program.pass_time(0.2)


def _begin(program: ScreenProgram, keys: str, seen: str) -> None:
    position = len(program.written)
    program.send(keys)
    program.wait_for(seen.encode(), position)


def _median(values: Sequence[float]) -> float:
    return statistics.median(values)


def _p95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]
