"""What a tool call costs besides the tool itself."""

import asyncio
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_cli.core.deciding.gatekeeper import Gatekeeper
from agent_cli.core.deciding.rules import PatternBase, Rules
from agent_cli.core.events import Event, ToolFinished, ToolStarted
from agent_cli.core.inbox import Inbox
from agent_cli.core.messages import ToolCall
from agent_cli.core.pipeline import Pipeline
from agent_cli.core.policy import Policy
from agent_cli.core.registry import Registry
from agent_cli.core.result_filter import ResultFilter
from agent_cli.core.tool import Description, Target, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import SessionView, ToolContext
from agent_cli.core.undo.checkpoint import NoCheckpoints
from agent_cli.core.undo.checkpointer import Checkpointer
from agent_cli.extensions.session_hooks import SessionHooks
from agent_cli.models.scripted import ScriptedModel
from agent_cli.runtime import built_in_tools
from agent_cli.safety.environment import child_environment
from agent_cli.safety.paths import Workspace
from agent_cli.safety.redact import Redactor
from agent_cli.storage.audit_log import AuditLog
from agent_cli.storage.learnt_rules import LearntRules
from bench.rows import Row, at_most, for_information

ROOT = Path(__file__).parents[1]
CALLS = 2_000
STARTS = 7


class Nothing(ToolParams):
    """What a small tool takes: enough for validation and permission to have work."""

    file_path: str
    limit: int = 1


async def _do_nothing(_params: Nothing, _context: ToolContext) -> ToolResult:
    return ToolResult(llm_content="done", summary="Done")


NO_OP = Tool(
    name="NoOp",
    kind=ToolKind.READONLY,
    params=Nothing,
    run=_do_nothing,
    description=Description(short="Does nothing."),
    targets=lambda params: (Target("path", params.file_path),),
    aliases=("do_nothing",),
)


def run() -> list[Row]:
    """Measure calls, look-up and registration."""
    with tempfile.TemporaryDirectory() as directory:
        state = Path(directory)
        return [*asyncio.run(_calls(state)), *_look_up(), _registration()]


async def _calls(state: Path) -> list[Row]:
    registry = built_in_tools()
    registry.register(NO_OP)
    audit = AuditLog(state / "audit.jsonl")
    pipeline, events = _pipeline(registry, audit, state)
    overhead = await _times(pipeline, events, "NoOp", {"file_path": "README.md"}, CALLS)
    clock = await _times(pipeline, events, "CurrentDateTime", {}, 200)
    read = await _times(pipeline, events, "Read", {"file_path": "Makefile"}, 200)
    git = await _times(pipeline, events, "GitInfo", {}, 25)
    rows = [
        at_most("pipeline overhead, median", statistics.median(overhead) * 1000, "ms", 1),
        for_information("pipeline overhead, 99 of 100", _high(overhead) * 1000, "ms"),
        at_most("CurrentDateTime", statistics.median(clock) * 1000, "ms", 50),
        at_most("Read of a small file", statistics.median(read) * 1000, "ms", 50),
        at_most("GitInfo in this repository", statistics.median(git) * 1000, "ms", 500),
    ]
    if registry.get("Grep") is not None:
        found = await _times(pipeline, events, "Grep", {"pattern": r"def \w+"}, 15)
        rows.append(at_most("Grep in this repository", statistics.median(found) * 1000, "ms", 500))
    await pipeline.state.close()
    audit.close()
    return rows


def _pipeline(registry: Registry, audit: AuditLog, state: Path) -> tuple[Pipeline, list[Event]]:
    """A pipeline as a session has it, with rules to go through and an audit log on disk."""
    workspace = Workspace(str(ROOT), own=(str(state),))
    model = ScriptedModel(())
    events: list[Event] = []
    gatekeeper = Gatekeeper(
        policy=Policy(
            place=PatternBase(root=workspace.root, home=workspace.home),
            rules=Rules.parse(["Bash(git log *)", "Edit(docs/**)"], ["Read(*.key)"], ["Bash(dd)"]),
            trusted=True,
        ),
        inbox=Inbox(attended=False),
        emit=events.append,
        kept_rules=LearntRules(state / "rules", workspace.root),
    )
    pipeline = Pipeline(
        registry=registry,
        gatekeeper=gatekeeper,
        keeper=Checkpointer(NoCheckpoints(), gatekeeper, events.append),
        session=SessionView("bench", workspace, child_environment({"PATH": "/usr/bin:/bin"})),
        recorder=audit,
        result_filter=ResultFilter(Redactor({}), state),
        emit=events.append,
        model=lambda: model,
        hooks=SessionHooks({}),
    )
    return pipeline, events


async def _times(
    pipeline: Pipeline, events: list[Event], name: str, arguments: dict[str, Any], count: int
) -> list[float]:
    """Seconds of each call, after a few that do not count; every one must succeed."""
    written = json.dumps(arguments)
    ids = map(str, itertools.count())
    times: list[float] = []
    for number in range(-5, count):
        call = ToolCall(id=next(ids), name=name, arguments=written)
        events.clear()
        started = time.perf_counter()
        result = await pipeline.execute(call)
        elapsed = time.perf_counter() - started
        if not result.success:
            raise RuntimeError(f"{name} failed: {result.llm_content}")
        if [type(events[0]), type(events[-1])] != [ToolStarted, ToolFinished]:
            raise RuntimeError(f"{name} sent the wrong events")
        if number >= 0:
            times.append(elapsed)
    return times


def _high(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[-1]


def _look_up() -> list[Row]:
    registry = built_in_tools()
    return [
        at_most("look-up by name", _microseconds(lambda: registry.get("Read")), "µs", 10),
        at_most("look-up by alias", _microseconds(lambda: registry.get("read_file")), "µs", 10),
    ]


def _microseconds(work: Callable[[], object]) -> float:
    return statistics.median(timeit.repeat(work, number=10_000, repeat=7)) / 10_000 * 1e6


_REGISTER = """
import time
import agent_cli.runtime
started = time.perf_counter()
agent_cli.runtime.built_in_tools().declarations()
print(time.perf_counter() - started)
"""


def _registration() -> Row:
    """In fresh processes: importing the tools' modules is part of it."""
    taken = [
        float(subprocess.check_output([sys.executable, "-c", _REGISTER], cwd=ROOT, text=True))
        for _ in range(STARTS)
    ]
    return at_most("registration of all tools", statistics.median(taken) * 1000, "ms", 100)
