"""Runs every check; none takes too long, and none can fail the others."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterable
from functools import partial
from typing import Any

from agent_cli import doctor
from agent_cli.doctor._check import Check, CheckContext, Finding
from agent_cli.lib.discovery import values_named
from agent_cli.lib.language import mark, tr
from agent_cli.lib.threads import in_own_thread

GROUPS = (mark("terminal"), mark("programs"), mark("settings"), mark("model"), mark("files"))


def all_checks() -> list[Check]:
    """Every check, in the order of the groups."""
    found = [check for checks in values_named("CHECKS", doctor) for check in checks]
    return sorted(found, key=lambda check: GROUPS.index(check.group))


async def examine(
    checks: Iterable[Check], patient: CheckContext
) -> AsyncIterator[tuple[Check, Finding]]:
    """One finding for each check, one after the other: some of them share the terminal."""
    for check in checks:
        yield check, await _finding(check, patient)


async def _finding(check: Check, patient: CheckContext) -> Finding:
    run: Callable[[], Any] = partial(check.run, patient)
    try:
        async with asyncio.timeout(check.seconds):
            is_async = inspect.iscoroutinefunction(check.run)
            found: Finding = await (run() if is_async else in_own_thread(run))
            return found
    except TimeoutError:
        return Finding(
            "problem",
            tr("timed out after {seconds:.0f} s", seconds=check.seconds),
            cause=tr("it hangs, or this machine is very busy"),
            remedy=tr("Run agent doctor again. If it still times out, check this by hand."),
        )
    except Exception as error:  # a check that fails is a finding
        return Finding(
            "problem",
            f"{type(error).__name__}: {error}",
            cause=tr("the check itself failed"),
            remedy=tr("Please report this bug."),
        )
