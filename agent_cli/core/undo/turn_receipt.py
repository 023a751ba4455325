"""The receipt of a turn: what it changed, what still runs, what it cost."""

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict

from agent_cli.core.model import Usage
from agent_cli.core.money.pricing import price
from agent_cli.lib.language import mark, tr, trn


class FileTouched(BaseModel):
    """A file that a turn changed."""

    model_config = ConfigDict(frozen=True)

    path: str
    """Relative to the workspace where it is inside."""
    verb: Literal["created", "changed", "deleted"]
    by: Literal["tools", "shell"]
    added: int | None = None
    """Lines; None where they were not counted."""
    removed: int | None = None


class StillRunning(BaseModel):
    """A command that runs on after the turn."""

    model_config = ConfigDict(frozen=True)

    id: str
    command: str
    ports: tuple[int, ...] = ()
    """Those it listens on."""


class Receipt(BaseModel):
    """What a turn leaves behind."""

    model_config = ConfigDict(frozen=True)

    files: tuple[FileTouched, ...] = ()
    running: tuple[StillRunning, ...] = ()

    def line(self, usage: Usage) -> str:
        """All of it in one line; empty where there is nothing to tell."""
        parts = [
            _by_tools([each for each in self.files if each.by == "tools"]),
            _by_shell([each for each in self.files if each.by == "shell"]),
        ]
        parts += [_runs(each) for each in self.running]
        tokens = usage.input_tokens + usage.output_tokens
        if tokens:
            cost = price(usage)
            parts.append(trn("{n:,} token, {price}", "{n:,} tokens, {price}", tokens, price=cost))
        return " · ".join(part for part in parts if part)

    def details(self) -> tuple[str, ...]:
        """One line for each file and each process."""
        running = (f"{each.id}: {_runs(each)}" for each in self.running)
        return (*map(_detail, self.files), *running)


def _by_tools(files: list[FileTouched]) -> str:
    if not files:
        return ""
    words = trn("{n:,} file changed by tools", "{n:,} files changed by tools", len(files))
    return f"{words} {_lines(files)}"


def _by_shell(files: list[FileTouched]) -> str:
    if not files:
        return ""
    words = trn("{n:,} file changed by shell", "{n:,} files changed by shell", len(files))
    return f"{words} {_lines(files)}"


def _lines(files: Iterable[FileTouched]) -> str:
    added = sum(each.added or 0 for each in files)
    removed = sum(each.removed or 0 for each in files)
    return f"+{added:,} −{removed:,}"


def _runs(process: StillRunning) -> str:
    command = process.command if len(process.command) <= 40 else f"{process.command[:39]}…"
    if not process.ports:
        return tr("{command} still runs", command=command)
    ports = ", ".join(map(str, process.ports))
    return tr("{command} still runs on port {ports}", command=command, ports=ports)


_TOUCHED = {
    ("created", "tools"): mark("{path}: created by tools"),
    ("changed", "tools"): mark("{path}: changed by tools"),
    ("deleted", "tools"): mark("{path}: deleted by tools"),
    ("created", "shell"): mark("{path}: created by shell"),
    ("changed", "shell"): mark("{path}: changed by shell"),
    ("deleted", "shell"): mark("{path}: deleted by shell"),
}


def _detail(file: FileTouched) -> str:
    words = tr(_TOUCHED[file.verb, file.by], path=file.path)
    return words if file.added is None else f"{words} {_lines([file])}"


def merge_files(files: Iterable[FileTouched]) -> tuple[FileTouched, ...]:
    """One entry for each file, whoever changed it how often."""
    found: dict[tuple[str, str], FileTouched] = {}
    for each in files:
        key = (each.path, each.by)
        before = found.get(key)
        if before is not None:
            verb = each.verb if before.verb != "created" or each.verb == "deleted" else "created"
            each = each.model_copy(
                update={
                    "verb": verb,
                    "added": _sum(before.added, each.added),
                    "removed": _sum(before.removed, each.removed),
                }
            )
        found[key] = each
    return tuple(found.values())


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)
