"""Whatever a command started is gone when it is stopped, cancelled, or the program ends."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_cli.core.errors import FailureType
from agent_cli.core.messages import text_of
from agent_cli.lib import sweep
from agent_cli.tools._shell.shell_session import ShellSession
from tests.kit.program import wait_until
from tests.kit.shells import Bench, until

LOOP = "while :; do sleep 0.05; done"
STRAYS = {
    "in the foreground": "sleep 1000",
    "in the background": "sleep 1000 & wait",
    "disowned": "sleep 1000 & disown; sleep 1000",
    "in a session of its own": "setsid sleep 1000 & sleep 1000",
    "in a session of its own, silent": "setsid sleep 1000 >/dev/null 2>&1 & sleep 1000",
    "without a parent": "( ( setsid sleep 1000 & ) & ) ; sleep 1000",
    "deaf to TERM": f"trap '' TERM; {LOOP}",
    "a child deaf to TERM": f"( trap '' TERM HUP INT; {LOOP} ) & wait",
    "nohup": "nohup sleep 1000 >/dev/null 2>&1 & sleep 1000",
    "without our environment": "env -i setsid sleep 1000 & sleep 1000",
    "without our descriptor": "setsid sleep 1000 100>&- & sleep 1000",
    "stopped": "sleep 1000 & kill -STOP $!; sleep 1000",
    "under job control": "set -m; sleep 1000 & sleep 1000",
    "replaced": "exec sleep 1000",
    "forking on": "f() { sleep 0.02; f & }; f; sleep 1000",
    "forked twice by python": (
        "python3 -c 'import os,time\nif os.fork()==0:\n os.setsid()\n"
        " if os.fork()==0: time.sleep(1000)\n os._exit(0)\n'; sleep 1000"
    ),
}


def has_reached_its_sleep(bench: Bench) -> bool:
    return (bench.root / "ready").exists() and bool(bench.running())


@pytest.mark.parametrize("stray", STRAYS.values(), ids=STRAYS)
async def test_nothing_survives_a_cancelled_call(bench: Bench, stray: str) -> None:
    first, last = stray.rsplit(";", 1) if stray.endswith("; sleep 1000") else (stray, "")
    command = f"{first}; touch ready; {last}" if last else f"touch ready; {stray}"
    call = asyncio.create_task(bench.bash(command))
    await until(lambda: has_reached_its_sleep(bench))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert bench.running() == []
    assert await bench.says("echo fine") == "fine"


@pytest.mark.parametrize("stray", STRAYS.values(), ids=STRAYS)
async def test_nothing_survives_the_end_of_a_session(bench: Bench, stray: str) -> None:
    await bench.bash(stray, run_in_background=True)
    await until(bench.running)
    mark = bench.mark
    await bench.close()
    assert sweep.find(mark) == []


async def test_time_runs_out(bench: Bench) -> None:
    result = await bench.bash("echo before; sleep 1000", timeout=3000)
    assert result.error is not None
    assert result.error.type is FailureType.TIMEOUT
    assert text_of(result.llm_content).startswith("before\n")
    assert "[timed out after 3 s" in text_of(result.llm_content)
    assert bench.running() == []


async def test_ending_kills_even_when_the_shell_itself_is_gone(bench: Bench) -> None:
    result = await bench.bash(f"( trap '' TERM; {LOOP} ) & echo started")
    job = str(result.metadata["job_id"])
    assert bench.running()
    assert (await bench.kill(job)).success
    assert bench.running() == []


async def test_a_second_cancel_does_not_save_the_command(bench: Bench) -> None:
    call = asyncio.create_task(bench.bash(f"trap '' TERM; touch ready; {LOOP}"))
    await until(lambda: has_reached_its_sleep(bench))
    call.cancel()
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await until(lambda: not bench.running())


PROGRAM = """
import asyncio, sys, tempfile
from pathlib import Path
from tests.kit.shells import Bench

async def main():
    bench = Bench(Path(sys.argv[1]))
    await bench.bash("setsid sleep 1000 & sleep 1000", run_in_background=True)
    await bench.bash("(trap '' TERM; while :; do sleep 0.05; done) >/dev/null 2>&1 & disown")
    print(bench.mark, flush=True)
    {ending}

asyncio.run(main())
"""


def started(text: str, directory: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", text, str(directory)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.parametrize(
    "ending",
    [
        "await asyncio.sleep(1000)",
        "raise SystemExit(1)",
        "import os; os._exit(1)",
        "import os, signal; os.kill(os.getpid(), signal.SIGHUP)",
    ],
)
async def test_nothing_survives_the_program_however_it_ends(tmp_path: Path, ending: str) -> None:
    with started(PROGRAM.format(ending=ending), tmp_path) as program:
        assert program.stdout is not None
        mark = (await asyncio.to_thread(program.stdout.readline)).decode().strip()
        assert mark
        if "sleep" in ending:
            assert len(sweep.find(mark)) >= 3
            os.kill(program.pid, signal.SIGKILL)
    await until(lambda: not sweep.find(mark))


def process_of(bench: Bench) -> subprocess.Popen[bytes]:
    """The process that watches over what the shell starts."""
    assert bench.shell._watchdog is not None
    assert bench.shell._watchdog._process is not None
    return bench.shell._watchdog._process


async def test_the_watchdog_ends_with_the_session(bench: Bench) -> None:
    await bench.bash("true")
    watchdog = process_of(bench)
    assert watchdog.poll() is None
    await bench.close()
    assert watchdog.poll() == 0


async def test_a_watchdog_that_was_killed_is_replaced(bench: Bench) -> None:
    await bench.bash("true")
    first = process_of(bench)
    first.kill()
    first.wait()
    await bench.bash("true")
    second = process_of(bench)
    assert second.pid != first.pid
    assert second.poll() is None


def test_one_mark_is_not_found_in_another() -> None:
    own = f"sweeptest{os.getpid()}."  # other runs of this test may be under way
    child = subprocess.Popen(["sleep", "1000"], env={"AGENT_CALL": f"{own}12."})
    try:
        # A process that just begins has no environment yet.
        wait_until(lambda: sweep.find(f"{own}12.") == [child.pid])
        assert sweep.find(f"{own}1.") == []
        assert sweep.find(own) == [child.pid]
        assert sweep.find("nobody.", groups=(os.getpgid(child.pid),)) != []
    finally:
        child.kill()
        child.wait()


async def test_whatever_goes_wrong_after_a_command_leaves_no_descriptor_open(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> str:
        raise OSError("the directory is gone")

    await bench.bash("true")
    before = {each.name for each in Path("/proc/self/fd").iterdir()}
    monkeypatch.setattr(ShellSession, "adopt", broken)
    with pytest.raises(OSError, match="gone"):
        await bench.bash("sleep 1000 & true")
    assert {each.name for each in Path("/proc/self/fd").iterdir()} == before
    assert bench.running() == []
