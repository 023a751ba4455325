"""Builds script steps from the cases of `tests/cases/model_chaos.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.kit.exchange import Scripted
from tests.kit.failures import rate_limited
from tests.kit.script import (
    Call,
    CallDelta,
    Calls,
    Cut,
    Deltas,
    Failure,
    Finish,
    Hangup,
    Line,
    Message,
    Pause,
    Piece,
    Repeat,
    Reply,
    Reset,
    Stall,
    Text,
    Thinking,
    Usage,
)

Json = Mapping[str, Any]

CASES = Path(__file__).parent.parent / "cases" / "model_chaos.jsonl"
UNKNOWN_HOST = "http://no-such-host.invalid"
"""The address to give the client for the case `dns-failure`, which no server can play."""


def cases() -> dict[str, Json]:
    """All cases by their id."""
    lines = CASES.read_text(encoding="utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


def chaos(case: Json, times: int | None = None) -> list[Scripted]:
    """The steps of a case (or of a bare behaviour); `times` makes the endless ones shorter.

    What a case needs beside the wire (a key press, a full disk) is for the test to do.
    """
    behaviour = case.get("behaviour", case)
    expand = {**case.get("expand", {}), **behaviour.get("expand", {})}
    build = BUILDERS[behaviour["type"]]
    return list(build(_expanded(behaviour, expand), times))


def _expanded(value: Any, expand: Json) -> Any:
    """Replace the short marks that stand for megabytes."""
    if not expand:
        return value
    if isinstance(value, str):
        for mark, text in expand.items():
            value = value.replace(mark, text["unit"] * text["times"])
        return value
    if isinstance(value, list):
        return [_expanded(item, expand) for item in value]
    if isinstance(value, dict):
        return {key: _expanded(item, expand) for key, item in value.items() if key != "expand"}
    return value


# ── one behaviour each ────────────────────────────────────────────────────────────────────────────


def _reply(behaviour: Json, _: int | None) -> Iterator[Scripted]:
    message = behaviour.get("message", {"content": "hello"})
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    yield Message(message, behaviour.get("choices", 1), finish)


def _stream(behaviour: Json, times: int | None) -> Iterator[Scripted]:
    if "repeat_chunk" in behaviour:
        piece = Text(behaviour["repeat_chunk"]["content"])
        yield Deltas((Repeat(piece, times or behaviour["times"]), Finish("stop", Usage())))
        return
    yield Deltas(tuple(piece for chunk in behaviour["chunks"] for piece in _pieces(chunk)))


def _pieces(chunk: Json) -> Iterator[Piece]:
    if "raw" in chunk:
        yield Line(chunk["raw"])
    if "reasoning" in chunk:
        yield Thinking(chunk["reasoning"])
    if "content" in chunk:
        yield Text(chunk["content"], _usage(chunk.get("usage")))
    if "tool" in chunk:
        yield Calls(tuple(_delta(part) for part in chunk["tool"]))
    if "finish" in chunk:
        yield Finish(chunk["finish"], Usage())
    if "sleep" in chunk:
        yield Pause(chunk["sleep"])
    if chunk.get("cut"):
        yield Hangup()


def _usage(given: Json | None) -> Usage | None:
    return None if given is None else Usage(output=given.get("completion_tokens", 0))


def _delta(part: Json) -> CallDelta:
    return CallDelta(part["index"], part.get("args", ""), part.get("id"), part.get("name"))


def _http(behaviour: Json, _: int | None) -> Iterator[Scripted]:
    yield Failure(
        behaviour["status"], body=behaviour.get("body"), headers=behaviour.get("headers", {})
    )


def _net(behaviour: Json, _: int | None) -> Iterator[Scripted]:
    if behaviour["action"] == "reset":
        yield Reset()


def _script(behaviour: Json, times: int | None) -> Iterator[Scripted]:
    for key, build in SCRIPTS.items():
        if key in behaviour:
            yield from build(behaviour, times)
            return
    raise KeyError(f"no script is known for {sorted(behaviour)}")


# ── scripts ───────────────────────────────────────────────────────────────────────────────────────


def _repeated(behaviour: Json, times: int | None) -> Iterator[Scripted]:
    repeated = behaviour["repeat"]
    if isinstance(repeated, list):
        yield from (_bash(command) for command in repeated)
        return
    name, _, path = repeated.partition(" ")
    for _ in range(times or behaviour["turns"]):
        yield Reply(calls=[Call(name, {"path": path})])


def _turns(behaviour: Json, _: int | None) -> Iterator[Scripted]:
    for turn in behaviour["turns"]:
        _, given, identity = turn.partition("id=")
        yield Reply(calls=[Call("Read", {"path": "a.txt"}, identity if given else None)])


def _statuses(behaviour: Json, _: int | None) -> Iterator[Scripted]:
    for status in behaviour["http"]:
        yield Failure(status, "context" if status == 400 else "")


def _person(behaviour: Json, _: int | None) -> Iterator[Scripted]:
    """What the model does around the moment a person presses a key."""
    told = behaviour["user"]
    if "3 deltas" in told:
        yield Stall(Reply("one two three four", size=4), at=3)
    elif "then server sends a tool call" in told:
        yield Stall(Reply("wait", calls=[Call("Bash", {"command": "rm x"})]), at=1)
    elif "y y y" in told:
        calls = [Call("Bash", {"command": "rm a"}), Call("Bash", {"command": "rm b"})]
        yield Reply(calls=calls)
    else:
        yield _bash("sleep 1000" if "sleep" in told else "rm x")


def _read(_: Json, __: int | None) -> Iterator[Scripted]:
    yield Reply(calls=[Call("Read", {"path": "a.txt"})])


def _glued(_: Json, __: int | None) -> Iterator[Scripted]:
    yield Deltas((Text("a"), Line('data: {"choices": []}{"choices": []}')))


def _limited(_: Json, __: int | None) -> Iterator[Scripted]:
    yield rate_limited("1")


def _plain(_: Json, __: int | None) -> Iterator[Scripted]:
    yield Reply("hello")


def _bash(command: str) -> Reply:
    return Reply(calls=[Call("Bash", {"command": command})])


Builder = Callable[[Any, int | None], Iterator[Scripted]]

BUILDERS: Mapping[str, Builder] = {
    "reply": _reply,
    "stream": _stream,
    "http": _http,
    "net": _net,
    "script": _script,
}

SCRIPTS: Mapping[str, Builder] = {
    "repeat": _repeated,
    "turns": _turns,
    "http": _statuses,
    "user": _person,
    "tool_result": _read,
    "tool_result_mb": _read,
    "raise": _glued,
    "clock": _limited,
    "disk": _plain,
}

# ── scripts in a file ─────────────────────────────────────────────────────────────────────────────


def step_from_json(entry: Any) -> list[Scripted]:
    """A step from a script file: a text, or an object with one key that names the step.

    {"reply": {…}}, {"failure": {…}}, {"cut": {"after": {…}, "at": "call"}}, {"stall": {…}},
    {"reset": {}}, {"chaos": "id or behaviour"}; the fields are those of the step's class.
    """
    if isinstance(entry, str):
        return [Reply(entry)]
    (kind, given), *rest = entry.items()
    if rest:
        raise ValueError(f"a step has one key, not {sorted(entry)}")
    match kind:
        case "reply":
            return [_reply_from(given)]
        case "failure":
            return [Failure(**given)]
        case "cut" | "stall":
            step = Cut if kind == "cut" else Stall
            return [step(**{**given, "after": _reply_from(given.get("after", {}))})]
        case "reset":
            return [Reset()]
        case "chaos":
            return chaos(cases()[given] if isinstance(given, str) else given)
    raise ValueError(f"{kind!r} is no step; use reply, failure, cut, stall, reset or chaos")


def _reply_from(given: Json) -> Reply:
    calls = [Call(**call) for call in given.get("calls", ())]
    usage = Usage(**given.get("usage", {}))
    return Reply(**{**given, "calls": calls, "usage": usage})
