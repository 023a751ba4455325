"""`agent check`: explains what would be decided about a call, and runs nothing."""

import argparse
import asyncio
import contextlib
import json
import os
import stat
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agent_cli.config.user_directories import Directories
from agent_cli.core.deciding.gatekeeper import judge
from agent_cli.core.deciding.rules import Facts
from agent_cli.core.errors import ToolFailure, UserError
from agent_cli.core.policy import Decision, Effect, Mode, Policy
from agent_cli.core.registry import Registry
from agent_cli.core.tool import ToolKind
from agent_cli.core.tool_context import ShellInfo
from agent_cli.extension_setup import own_tools
from agent_cli.folder import folder_standing, load_settings
from agent_cli.launch_options import LaunchOptions
from agent_cli.lib.cells import pad, width_of
from agent_cli.lib.files import kind_of
from agent_cli.lib.language import mark, tr
from agent_cli.runtime import built_in_tools, make_policy
from agent_cli.safety.paths import Workspace
from agent_cli.safety.reasons import Reason, because, in_words, quote_value
from agent_cli.safety.sandbox import SandboxUnavailable, find_sandbox
from agent_cli.safety.sanitise import visible
from agent_cli.safety.terminal import write_data, write_out
from agent_cli.subcommands._printing import warn

EXIT_CODES: Final = {Effect.ALLOW: 0, Effect.ASK: 10, Effect.DENY: 11}
EFFECTS: Final = {"allow": mark("allow"), "ask": mark("ask"), "deny": mark("deny")}
AT_ONCE = 4
"""Commands that are looked at side by side: each may wait for a process of bash."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `agent check`."""
    parser.epilog = tr(
        "Exit codes for one command: 0 allow, 10 ask, 11 deny. With --jsonl: 0. Lines of --jsonl "
        'are {"id", "command"} or {"id", "tool", "arguments"}.'
    )
    parser.add_argument("line", metavar="COMMAND", nargs="?", help=tr("a shell command"))
    parser.add_argument("--json", action="store_true", help=tr("print one JSON object"))
    parser.add_argument(
        "--jsonl", action="store_true", help=tr("read calls from standard input, one per line")
    )
    parser.add_argument(
        "--mode", choices=[mode.value for mode in Mode], help=tr("as if in this mode")
    )
    for effect in Effect:
        parser.add_argument(
            f"--{effect.value}", metavar="RULE", action="append", help=tr("as if with this rule")
        )
    parser.add_argument(
        "--workspace", metavar="DIR", help=tr("as if in this folder; need not exist")
    )
    parser.add_argument("--home", metavar="DIR", help=tr("as if this were the home directory"))
    parser.add_argument("--assume-trusted", action="store_true", help=tr("as if it were trusted"))


def run(options: argparse.Namespace) -> int:
    """Explain one command, or answer line by line."""
    if options.jsonl == (options.line is not None):
        raise UserError(tr("Give one command, or --jsonl and calls on standard input."))
    check = _check(options)
    if options.jsonl:
        asyncio.run(_answer_lines(check))
        return 0
    answer = asyncio.run(check.answer({"command": options.line}))
    if options.json:
        write_data(f"{json.dumps(answer.as_json())}\n")
    else:
        write_out(_explain(answer))
    return EXIT_CODES[answer.decision.effect]


@dataclass(frozen=True)
class CheckResult:
    """What would be decided about a call, and what it touches."""

    decision: Decision
    commands: tuple[tuple[str, ...], ...] = ()
    writes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """What programs read: reasons in English, and their stable codes."""
        return {
            "effect": self.decision.effect.value,
            "reasons": [str(reason) for reason in self.decision.reasons],
            "codes": [reason.code for reason in self.decision.reasons],
            "sandbox": self.decision.confined.value if self.decision.confined else None,
            "commands": self.commands,
            "writes": self.writes,
        }


@dataclass(frozen=True)
class CallCheck:
    """Everything a decision depends on besides the call."""

    tools: Registry
    workspace: Workspace
    policy: Policy

    async def answer(self, call: Mapping[str, Any]) -> CheckResult:
        """What would be decided about a call; one that cannot be made is denied."""
        try:
            facts, decision = await self._assess(call)
        except ToolFailure as failure:
            said = filter(None, (failure.message, failure.details))
            return CheckResult(Decision(Effect.DENY, tuple(map(quote_value, said))))
        if decision.effect is Effect.ALLOW and (failing := self._would_fail(facts)):
            decision = Decision(Effect.DENY, failing)
        return CheckResult(
            decision,
            commands=tuple(command.argv for command in facts.commands),
            writes=tuple(path.real for path in facts.paths if path.access == "write"),
        )

    async def _assess(self, call: Mapping[str, Any]) -> tuple[Facts, Decision]:
        name, arguments = call.get("tool"), call.get("arguments", {})
        if "command" in call and name is None:
            name, arguments = "Bash", {"command": call["command"]}
        if not isinstance(arguments, str | dict):
            arguments = json.dumps(arguments)
        invocation = self.tools.find(str(name)).bind(arguments)
        return await judge(invocation, self.workspace, ShellInfo(), self.policy)

    def _would_fail(self, facts: Facts) -> tuple[Reason, ...]:
        """Why a tool that only reads could not do so, though it may."""
        if not self.workspace.on_disk or facts.commands or facts.kind is not ToolKind.READONLY:
            return ()
        problems = (_unreadable(path.typed, path.real, facts.tool) for path in facts.paths)
        return tuple(problem for problem in problems if problem)


def _unreadable(typed: str, path: str, tool: str) -> Reason | None:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116  the text as it was resolved
    except OSError as error:
        return because("unreadable_file", path=typed, why=error.strerror)
    kind = kind_of(mode)
    if kind is not None and (not stat.S_ISDIR(mode) or tool == "Read"):
        return because("is_kind", path=typed, kind=because(kind.replace(" ", "_")))
    if os.access(path, os.R_OK):
        return None
    return because("unreadable_file", path=typed, why=because("permission_denied"))


def _check(options: argparse.Namespace) -> CallCheck:
    # A home that is given is a fresh one: nobody's settings but those in it apply.
    environment = {"HOME": options.home} if options.home else dict(os.environ)
    root = Path(options.workspace or ".").absolute()
    places = Directories.of(environment)
    given = {effect.value: getattr(options, effect.value) for effect in Effect}
    launch_options = LaunchOptions(
        cwd=root,
        trust=options.assume_trusted,
        settings={
            "permissions": {name: rules for name, rules in given.items() if rules},
            **({"mode": options.mode} if options.mode else {}),
        },
    )
    loaded = load_settings(launch_options, environment)
    warn(*loaded.warnings)
    workspace = Workspace(
        root=str(root),
        home=environment.get("HOME") or str(Path.home()),
        own=(str(places.config), str(places.state)),
        on_disk=root.is_dir(),
    )
    trusted = folder_standing(launch_options, environment).trusted
    policy = make_policy(launch_options, loaded.settings, workspace, places, trusted=trusted)
    if workspace.on_disk:
        with contextlib.suppress(SandboxUnavailable):
            policy.confines = asyncio.run(find_sandbox(loaded.settings.sandbox)).confines
    tools = built_in_tools()
    for tool in own_tools(loaded.settings, environment):
        tools.register(tool)
    return CallCheck(tools, workspace, policy)


async def _answer_lines(check: CallCheck) -> None:
    """Answer every line, in order, as soon as it and those before it are decided."""
    answers: asyncio.Queue[asyncio.Task[dict[str, Any]] | None] = asyncio.Queue(AT_ONCE)

    async def write() -> None:
        while (answer := await answers.get()) is not None:
            write_data(f"{json.dumps(await answer)}\n")
            if answers.empty():
                sys.stdout.flush()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(write())
        async for line in _lines():
            await answers.put(tasks.create_task(_answer_line(check, line)))
        await answers.put(None)


async def _lines() -> AsyncIterator[bytes]:
    while line := await asyncio.to_thread(sys.stdin.buffer.readline):
        if line.strip():
            yield line


async def _answer_line(check: CallCheck, line: bytes) -> dict[str, Any]:
    call: Any = None
    try:
        call = json.loads(line)
        if not isinstance(call, dict) or not ("command" in call or "tool" in call):
            raise ValueError('it is not an object with "command" or "tool"')  # noqa: TRY301
    except (ValueError, RecursionError) as error:
        known = call.get("id") if isinstance(call, dict) else None
        return {"id": known, "error": f"the line cannot be read: {error}"}
    return {"id": call.get("id"), **(await check.answer(call)).as_json()}


def _explain(answer: CheckResult) -> str:
    why, runs, writes, sandbox = tr("because"), tr("runs"), tr("writes"), tr("sandbox")
    column = max(map(width_of, (why, runs, writes, sandbox)))
    rows = [(why, in_words(reason)) for reason in answer.decision.reasons]
    rows += [(runs, " ".join(argv)) for argv in answer.commands]
    rows += [(writes, path) for path in answer.writes]
    rows += [(sandbox, answer.decision.confined)] if answer.decision.confined else []
    lines = [tr(EFFECTS[answer.decision.effect])]
    lines += [f"  {pad(label, column)} {text}" for label, text in rows]
    return "".join(f"{visible(line, one_line=True)}\n" for line in lines)
