"""How quick sessions are found among thousands, and how soon a long one is on the screen."""

import json
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent_cli.core.display import TextBlock
from agent_cli.core.events import ToolFinished, ToolStarted, TurnFinished, TurnStarted, UsageChanged
from agent_cli.core.log.entries import (
    Entry,
    EventAdded,
    KnownBody,
    MessageAdded,
    SessionOpened,
    Titled,
)
from agent_cli.core.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from agent_cli.core.model import Usage
from agent_cli.core.tool import ToolResult
from agent_cli.storage.session_log import LogFiles, SessionLog
from agent_cli.storage.session_store import Sessions
from bench.rows import Row, at_most, for_information
from bench.screen_program import ON_SCREEN, ScreenProgram
from bench.timing import samples, seconds

ROOT = Path(__file__).parents[1]
SESSIONS = 5_000
TURNS = 3
"""Of each of them."""
ENTRIES = 10_000
"""Of the long one."""
ROUNDS = 5
STARTS = 5
WORDS = (
    "parser", "token", "cache", "index", "window", "session", "model", "prompt", "buffer", "retry",
    "widget", "colour", "border", "cursor", "scroll", "render", "layout", "commit", "branch",
)  # fmt: skip
START = datetime(2026, 1, 1, tzinfo=UTC)
SAID_LAST = "These were the last words."


def run() -> list[Row]:
    """Among many sessions, then a long one."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        return [*_many(place / "many"), *_long(place / "long")]


def _many(state: Path) -> Iterator[Row]:
    draw = random.Random(1)
    for number in range(SESSIONS):
        _write(state, f"{number:012x}", _short(draw, number))
    build = seconds(lambda: Sessions(state).index.refresh())
    yield for_information(f"first index of {SESSIONS:,} sessions", build, "s")
    tasks = {
        "list": lambda: seconds(lambda: Sessions(state).index.listing()),
        "search, a word in each": lambda: seconds(lambda: Sessions(state).index.search("please")),
        "search, a word in one": lambda: seconds(
            lambda: Sessions(state).index.search("number4321")
        ),
        "search, words here and there": lambda: seconds(
            lambda: Sessions(state).index.search("number4321 done")
        ),
    }
    taken = samples(tasks, ROUNDS)
    for name, values in taken.items():
        budget = 200 if name == "list" else 300
        title = f"{name} ({SESSIONS:,} sessions)"
        yield at_most(title, 1000 * statistics.median(values), "ms", budget)


def _long(place: Path) -> Iterator[Row]:
    home, project = place / "home", place / "project"
    project.mkdir(parents=True)
    home.mkdir()
    script = home / "script.jsonl"
    script.write_text(json.dumps({"text": "hi"}))
    state = home / ".local/state/agent"
    entries = list(_entries(random.Random(2), str(project), ENTRIES))
    _write(state, "a" * 12, entries)
    size = LogFiles(state / "sessions", "a" * 12).log.stat().st_size
    resume = statistics.median(seconds(lambda: _resume(state)) for _ in range(ROUNDS))
    argv = [sys.executable, "-m", "agent_cli", "--trust", "--model", f"scripted:{script}"]
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}

    def start(flags: list[str], shown: bytes) -> float:
        with ScreenProgram([*argv, *flags], project, env) as program:
            program.wait_for(ON_SCREEN)
            program.wait_for(shown)
            program.echo()
            return program.elapsed()

    taken = samples(
        {
            "fresh": lambda: start([], b"Ready."),
            "resumed": lambda: start(["-r", "a" * 12], SAID_LAST.encode()),
        },
        STARTS,
    )
    beyond = statistics.median(
        later - sooner for later, sooner in zip(taken["resumed"], taken["fresh"], strict=True)
    )
    yield for_information(f"log of {ENTRIES:,} entries", size / 1e6, "MB")
    yield for_information("read it", 1000 * resume, "ms")
    yield for_information("start, nothing to show", statistics.median(taken["fresh"]), "s")
    yield at_most(f"start with {ENTRIES:,} entries, beyond that", beyond, "s", 1)


def _resume(state: Path) -> None:
    resumed = Sessions(state).resume("a" * 12)
    assert len(resumed.history.messages) > ENTRIES // 4
    resumed.log.close()


def _write(state: Path, name: str, bodies: list[KnownBody]) -> None:
    """Write a log as the program would, but at once."""
    log = SessionLog(LogFiles(state / "sessions", name), str)
    parent = None
    lines = []
    for number, body in enumerate(bodies):
        entry = Entry(
            id=f"{number:012x}", parent=parent, time=START + timedelta(seconds=number), body=body
        )
        parent = entry.id
        lines.append(log.line(entry))
    log.files.directory.mkdir(parents=True, exist_ok=True)
    log.files.log.write_bytes(b"".join(lines))


def _short(draw: random.Random, number: int) -> list[KnownBody]:
    first = f"please fix number{number}"
    return list(_entries(draw, f"/work/project{number % 50}", 2 + TURNS * 9, first))


def _entries(
    draw: random.Random, workspace: str, count: int, first: str = "please begin"
) -> Iterator[KnownBody]:
    """Turns with a call each, until there are so many entries."""
    yield SessionOpened(session="s", workspace=workspace, model="m", mode="default", program="0")
    yield Titled(title=_prose(draw, 5), by="model")
    used = Usage(input_tokens=1000, output_tokens=100, cost=0.01)
    left = count - 2
    turn = 0
    while left > 0:
        turn += 1
        prompt = first if turn == 1 else _prose(draw, 12)
        last = left <= 9
        call = ToolCall(id=f"c{turn}", name="Read", arguments='{"file_path": "a.py"}')
        text = "\n".join(_prose(draw, 8) for _ in range(40))
        result = ToolResult(llm_content=text, display=(TextBlock(text=text),), summary="Read 40")
        bodies: list[KnownBody] = [
            EventAdded(event=TurnStarted(session_id="s", turn=turn, prompt=prompt, model="m")),
            MessageAdded(message=UserMessage(content=prompt)),
            MessageAdded(message=AssistantMessage(text=_prose(draw, 30), calls=(call,))),
            EventAdded(event=ToolStarted(call_id=call.id, tool="Read", title="a.py")),
            EventAdded(
                event=ToolFinished(call_id=call.id, tool="Read", result=result, seconds=0.1)
            ),
            MessageAdded(message=ToolMessage(call_id=call.id, name="Read", content=text)),
            EventAdded(event=UsageChanged(model="m", step=used, total=used)),
            MessageAdded(
                message=AssistantMessage(text=SAID_LAST if last else _prose(draw, 80) + " done")
            ),
            EventAdded(event=TurnFinished(turn=turn, reason="done")),
        ]
        yield from bodies[-left:] if last else bodies
        left -= 9


def _prose(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(WORDS, k=words))
