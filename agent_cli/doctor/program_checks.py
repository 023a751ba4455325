"""Python, our packages, and the programs we run."""

import platform
import re
import subprocess
import sys
from importlib import metadata

from agent_cli import __version__
from agent_cli.doctor._check import Check, CheckContext, Finding, Verdict, ok
from agent_cli.lib.find_program import find_program
from agent_cli.lib.language import mark, tr
from agent_cli.models.warm_client import warm_process_id
from agent_cli.safety.sandbox import SandboxUnavailable, find_sandbox

_MIN_VERSION = (3, 11)
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def python(_: CheckContext) -> Finding:
    """The interpreter."""
    measured = f"{platform.python_version()} ({platform.system()} {platform.machine()})"
    if sys.version_info >= _MIN_VERSION:
        return ok(measured)
    remedy = tr("Install a newer Python, then run make install.")
    return Finding("problem", measured, tr("3.11 or later"), remedy=remedy)


def packages(_: CheckContext) -> Finding:
    """What we are made of."""
    found, missing = [f"agent {__version__}"], []
    for name in _required_packages():
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    if not missing:
        return ok(", ".join(found))
    return Finding(
        "problem", tr("missing: {names}", names=", ".join(missing)), tr("all packages installed"),
        cause=tr("the installation is incomplete"), remedy=tr("Run make install."),
    )  # fmt: skip


def _required_packages() -> list[str]:
    try:
        required = metadata.requires("agent-cli") or []
    except metadata.PackageNotFoundError:
        return []
    always = (line for line in required if "extra ==" not in line)
    return [found.group() for line in always if (found := _NAME.match(line))]


def _program(name: str, verdict: Verdict, why: str, remedy: str) -> Check:
    """A check that a program is there and runs."""

    def look(_: CheckContext) -> Finding:
        path = find_program(name)
        expected = f"{name}: {tr(why)}"
        if path is None:
            return Finding(verdict, tr("not found"), expected, remedy=tr(remedy))
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=4, check=False,
            stdin=subprocess.DEVNULL, errors="replace",
        )  # fmt: skip
        if done.returncode != 0:
            cause = tr("{path} --version exited with {code}", path=path, code=done.returncode)
            return Finding(verdict, tr("doesn't run"), expected, cause, tr(remedy))
        return ok(f"{done.stdout.partition(chr(10))[0]} ({path})")

    return Check("programs", name, look)


def warm_process(_: CheckContext) -> Finding:
    """Whether the next start finds the model libraries loaded."""
    pid = warm_process_id()
    return ok(tr("process {pid}", pid=pid) if pid else tr("none is running"))


async def sandbox(_: CheckContext) -> Finding:
    """Which sandbox really works here."""
    try:
        found = await find_sandbox("auto")
    except SandboxUnavailable as error:
        return Finding("warning", error.message, remedy=error.hint)
    if found.reader is not None:
        return ok(
            tr(
                "{sandbox}; {reader} for commands that only read",
                sandbox=found.reason,
                reader=found.reader.reason,
            )
        )
    if found.confines:
        return ok(found.reason)
    return Finding(
        "warning", tr("none"), tr("bubblewrap or Landlock"), cause=found.reason,
        remedy=tr(
            "Install bubblewrap. Until then nothing confines commands that run unasked, "
            "and auto mode is off."
        ),
    )  # fmt: skip


CHECKS = (
    Check("programs", "python", python),
    Check("programs", mark("packages"), packages),
    _program("bash", "problem", mark("runs commands"), mark("Install bash.")),
    _program(
        "rg", "problem", mark("searches files"), mark("Run make install, or install ripgrep.")
    ),
    _program("git", "warning", mark("shows what changed"), mark("Install git.")),
    Check("programs", mark("sandbox"), sandbox, seconds=15),
    Check("programs", mark("warm process"), warm_process),
)
