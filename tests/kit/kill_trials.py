"""Kills the program at chosen moments and looks at what is left: `python -m tests.kit.kill_trials`.

One process loads the program once and forks for each trial, so that a trial costs what the turn
costs. A trial plays a turn with everything in it, kills it with SIGKILL after some line of output
and a moment more, resumes the session, compares it with what had been shown, and plays on.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_cli import flags
from agent_cli.cli import run as run_program
from agent_cli.config import glance
from agent_cli.core.events import EVENT, Event
from agent_cli.core.log.history import addresses
from agent_cli.core.messages import ToolMessage, close_open_calls
from agent_cli.core.undo.undo_plan import Choice, paths_of, plan
from agent_cli.core.undo.undoing import standing
from agent_cli.extensions import host, sql, web
from agent_cli.frontends.headless import start as headless
from agent_cli.runtime import built_in_tools
from agent_cli.safety.characters import mark_floods
from agent_cli.storage import session_index
from agent_cli.storage.checkpoint_store import CheckpointStore
from agent_cli.storage.session_store import Sessions
from tests.kit.places import picture
from tests.kit.program import processes_with, wait_until

FIRST, SECOND = "A" * 100_000 + "\n", "B" * 150_000 + "\n"
"""What is written to a file, longer than a line of the log takes."""
WORDS = "The quick brown fox jumps over the lazy dog, and says so at some length. " * 3
COMMAND = (
    "for i in 1 2 3; do echo line $i; done; echo more >> 0.txt; rm 1.txt; mkdir d; echo x > d/new"
)
LONGEST_MOMENT = 0.006
PLAYS_ON = 3
"""One trial in so many also plays another turn; all of them resume."""
_TOLD = {
    "text_delta", "thinking_delta", "tool_started", "tool_finished",
    "model_retrying", "history_compacted",
}  # fmt: skip


def call(name: str, **arguments: str) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def steps() -> list[dict[str, Any]]:
    """A turn with streaming, thinking, parallel calls, writing, a command, a retry, compaction."""
    reads = [call("Read", file_path=f"{number}.txt") for number in range(3)]
    more = [call("Read", file_path=f"{number}.txt") for number in range(3, 6)]
    return [
        {"thinking": "Let me see.", "text": WORDS, "pieces": 20, "delay": 0.0005, "calls": reads},
        {"text": "Half an answer", "pieces": 3, "error": {"kind": "server", "retry_after": 0}},
        {
            "text": "Now I write.",
            "pieces": 4,
            "calls": [call("Write", file_path="out", content=FIRST)],
        },
        {"text": "Again.", "calls": [call("Write", file_path="out", content=SECOND)]},
        {"calls": [call("Bash", command=COMMAND)]},
        {"text": "More.", "calls": more},
        {"error": {"kind": "overflow", "message": "too long"}},
        {"text": "A summary of what happened.", "pieces": 4, "delay": 0.0005},
        {"thinking": "Done.", "text": WORDS, "pieces": 30, "delay": 0.0005},
    ]


class Trial:
    """One kill, in a directory of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.workspace = directory / "project"
        self.temporary = directory / "tmp"
        self.workspace.mkdir(parents=True)
        self.temporary.mkdir()
        for number in range(6):
            (self.workspace / f"{number}.txt").write_text(f"{number} hello\n" * 100)
        self.before = picture(self.workspace)
        self.sessions = Sessions(directory / "home/.local/state/agent")

    def play(self, kill_after: int | None, moment: float) -> list[Event]:
        """Play the turn; returns what was shown before it was killed."""
        script = self._script("first", steps())
        reading, writing = os.pipe()
        child = self._fork(["-p", "go", *self._flags(script)], writing)
        os.close(writing)
        shown = bytearray()
        while kill_after is None or shown.count(b"\n") < kill_after:
            data = os.read(reading, 1 << 16)
            if not data:
                break
            shown += data
        if kill_after is not None:
            _spin(moment)
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while data := os.read(reading, 1 << 16):
            shown += data
        os.close(reading)
        whole = shown[: shown.rfind(b"\n") + 1]
        return [EVENT.validate_json(line) for line in whole.splitlines()]

    def problem(self, shown: Sequence[Event], *, plays_on: bool = True) -> str:
        """What is wrong with what is left; empty if nothing is."""
        written = self.workspace / "out"
        if written.exists() and written.read_text() not in (FIRST, SECOND):
            return "a file is half written"
        logs = list((self.directory / "home/.local/state/agent/sessions").glob("*.jsonl"))
        if not logs:
            return "nothing is kept" if shown else ""
        resumed = self.sessions.resume(logs[0].stem)
        resumed.log.close()
        history = resumed.history
        found, told = outline(history.events), outline(shown)
        if wrong := _missing(told, found):
            return wrong
        messages = [placed.message for placed in history.messages] + [*history.missing]
        if close_open_calls(messages) != messages:
            return f"the conversation is not valid: {messages}"
        done = {each[1] for each in told if each[0] == "tool_finished"}
        kept = [*addresses(self.sessions.read(logs[0].stem)).values(), *history.missing]
        said = {message.call_id for message in kept if isinstance(message, ToolMessage)}
        if not done <= said:
            return f"results are lost: {done - said}"
        problem = self._goes_on(logs[0].stem) if plays_on else ""
        return problem or self._taken_back(logs[0].stem)

    def _taken_back(self, session_id: str) -> str:
        """An undo of everything, the person agreeing, leaves the directory as it was."""
        # A command that was killed with the program may live for a moment longer.
        wait_until(lambda: not processes_with(f"{self.directory}/home"))
        store = CheckpointStore(
            self.directory / "home/.local/state/agent/checkpoints", session_id,
            roots=[str(self.workspace)], home=str(self.directory / "home"),
            environment={"PATH": "/usr/local/bin:/usr/bin:/bin"},
        )  # fmt: skip
        records = list(reversed(standing(store.records())))
        preview = plan("undo", records, store.now(paths_of(records)), store)
        choices: dict[str, Choice] = {each.path: "restore" for each in preview.files}
        if records:
            store.restore(preview.steps(choices), kind="undo", of=records, turn=1)
        store.close()
        left = picture(self.workspace)
        different = {name for name in left if left[name] != self.before.get(name)}
        different |= self.before.keys() - left.keys()
        return f"the undo left {different}" if different else ""

    def _goes_on(self, session_id: str) -> str:
        """The session takes another turn."""
        script = self._script("second", [{"text": "Here I am again."}])
        reading, writing = os.pipe()
        child = self._fork(["-r", session_id, "-p", "still there?", *self._flags(script)], writing)
        os.close(writing)
        out = b""
        while data := os.read(reading, 1 << 16):
            out += data
        os.close(reading)
        _, status = os.waitpid(child, 0)
        if status or b"Here I am again." not in out:
            errors = (self.directory / "errors").read_text()
            return f"it does not go on ({status}): {out[-500:]!r} {errors}"
        return ""

    def _flags(self, script: Path) -> list[str]:
        return [
            "--model", f"scripted:{script}", "--output-format", "stream-json",
            "--permission-mode", "yolo", "--trust",
        ]  # fmt: skip

    def _script(self, name: str, lines: list[dict[str, Any]]) -> Path:
        path = self.directory / f"{name}.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)))
        return path

    def _fork(self, arguments: list[str], out: int) -> int:
        sys.stdout.flush()
        child = os.fork()
        if child:
            return child
        code = 70
        try:
            os.setsid()
            os.chdir(self.workspace)
            os.environ.clear()
            path = "/usr/local/bin:/usr/bin:/bin"
            os.environ |= {"HOME": str(self.directory / "home"), "PATH": path}
            os.environ["TMPDIR"] = str(self.temporary)
            os.dup2(out, 1)
            os.dup2(os.open(self.directory / "errors", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            sys.stdin, sys.stdout, sys.stderr = (
                os.fdopen(number, "w" if number else "r") for number in range(3)
            )
            code = run_program(arguments)
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)


def outline(events: Sequence[Event]) -> list[tuple[str, str]]:
    """What a person sees of events; neighbouring pieces of text are one."""
    told: list[tuple[str, str]] = []
    for event in events:
        if event.type not in _TOLD:
            continue
        what = str(getattr(event, "text", "") or getattr(event, "call_id", ""))
        if told and event.type.endswith("delta") and told[-1][0] == event.type:
            told[-1] = (event.type, told[-1][1] + what)
        else:
            told.append((event.type, what))
    return told


def _missing(told: list[tuple[str, str]], found: list[tuple[str, str]]) -> str:
    """Whatever was shown must be there, in the same order; the last text may go on."""
    for number, each in enumerate(told):
        if number >= len(found):
            return f"{each} was shown and is gone"
        kind, text = found[number]
        last = number == len(told) - 1 and kind.endswith("delta")
        same = text.startswith(each[1].strip()) if last else text.strip() == each[1].strip()
        if kind != each[0] or not same:
            return f"{each} was shown, and {found[number]} is there"
    return ""


def _spin(seconds: float) -> None:
    """Wait without leaving the processor to chance."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def _load() -> None:
    """Load and build here what each child would have to load and build."""
    assert all((flags, glance, headless, host, session_index, sql, web))
    assert all(tool.declaration for tool in built_in_tools())
    assert mark_floods()


def main(directory: Path, seed: int, count: int) -> int:
    """Print one line for each trial that went wrong, and how many went well."""
    _load()
    draw = random.Random(seed)
    whole = Trial(directory / "whole")
    lines = len(whole.play(None, 0))
    problem = whole.problem([])
    print(f"{lines} lines in a whole turn {problem}", flush=True)
    failed = bool(problem) or lines < 60
    for number in range(count):
        trial = Trial(directory / str(number))
        kill_after, moment = draw.randrange(lines), draw.uniform(0, LONGEST_MOMENT)
        try:
            shown = trial.play(kill_after, moment)
            problem = trial.problem(shown, plays_on=number % PLAYS_ON == 0)
        except Exception:
            problem = traceback.format_exc()
        if problem:
            failed = True
            print(f"trial {number}, after line {kill_after}: {problem}", flush=True)
        else:
            with contextlib.suppress(OSError):
                shutil.rmtree(trial.directory)
    print("failed" if failed else f"{count} kills survived", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
