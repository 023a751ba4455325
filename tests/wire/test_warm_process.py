"""The warm process: workers are forked from loaded LiteLLM, and nothing depends on it."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_cli.models.warm_client import (
    connect,
    fork_worker,
    stop_warm_process,
    warm_process_id,
)
from agent_cli.models.worker_process import WorkerGone, WorkerProcess, spawn
from tests.kit.model_server import Reply, Stall, running_server
from tests.kit.program import Program, children_of, wait_until
from tests.kit.warm import found_in, warm_process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the warm process needs Linux")

TRIES = 10
KEY = "sk-proj-warm-0123456789abcdefghijABCDEFGHIJ"


@pytest.fixture(scope="module")
def warm() -> Iterator[Path]:
    with warm_process() as directory:
        yield directory


def test_a_program_gets_its_worker_from_it(warm: Path, program: Program) -> None:
    with running_server(Reply("Hello."), Reply("Hello.")) as server, found_in(warm):
        model = ("--model", "openai/gpt-4o", "--api-base", f"{server.url}/v1")
        env = {"OPENAI_API_KEY": KEY, "XDG_RUNTIME_DIR": str(warm)}
        done = program.run("-p", "hi", *model, environment=env)
        assert done.out == "Hello.\n"
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        pid = warm_process_id()
        assert pid is not None
        wait_until(lambda: children_of(pid) == [])
        assert KEY.encode() not in memory_of(pid)


def test_its_worker_ends_with_the_program(warm: Path, program: Program) -> None:
    with running_server(*[Stall(Reply("thinking"), at=1)] * TRIES) as server, found_in(warm):
        pid = warm_process_id()
        assert pid is not None
        for tried in range(TRIES):  # on a busy machine it may not answer in time
            process = program.start(
                "-p", "hi", "--model", "openai/gpt-4o", "--api-base", f"{server.url}/v1",
                environment={"XDG_RUNTIME_DIR": str(warm)},
            )  # fmt: skip
            wait_until(lambda tried=tried: len(server.requests) > tried)  # type: ignore[misc]
            forked = children_of(pid)
            process.kill()
            process.wait()
            wait_until(lambda: children_of(pid) == [])
            if forked:
                break
        assert forked
        assert warm_process_id() == pid


async def test_a_worker_of_it_is_replaced_when_it_dies(warm: Path) -> None:
    with found_in(warm):
        worker = WorkerProcess()
        await worker.prime("openai/gpt-4o")
        first = worker.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        with contextlib.suppress(WorkerGone):  # noticed by now, or by this
            await anext(worker.request({"op": "describe", "model": "openai/gpt-4o"}))
        async for answer in worker.request({"op": "describe", "model": "openai/gpt-4o"}):
            assert answer["op"] == "described"
        assert worker.pid != first
        await worker.close()


def test_a_warm_process_that_hangs_or_is_gone_is_done_without(warm: Path, tmp_path: Path) -> None:
    with found_in(warm):
        pid = warm_process_id()
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            assert fork_worker({}) is None
            cold = spawn()
            assert isinstance(cold, subprocess.Popen)
            cold.kill()
            cold.wait()
        finally:
            os.kill(pid, signal.SIGCONT)
        wait_until(lambda: warm_process_id() == pid)
        wait_until(lambda: children_of(pid) == [])  # nor does what it forks too late stay
    with found_in(tmp_path):
        assert fork_worker({}) is None


def test_a_directory_that_others_can_enter_is_not_used(warm: Path, tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    (open_to_all / "agent").mkdir(parents=True)
    (open_to_all / "agent").chmod(0o755)
    with found_in(open_to_all), pytest.raises(PermissionError):
        connect()
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "agent").symlink_to(warm / "agent")
    with found_in(linked):
        assert fork_worker({}) is None


def test_it_stops_when_it_is_told_to(tmp_path: Path) -> None:
    with warm_process() as directory, found_in(directory):
        worker = next(filter(None, (fork_worker({}) for _ in range(TRIES))))
        assert worker.poll() is None
        wait_until(stop_warm_process)
        wait_until(lambda: warm_process_id() is None)
        assert worker.poll() is None  # a session under way keeps its worker
        worker.kill()
        worker.wait()
        assert not stop_warm_process()


def memory_of(pid: int) -> bytes:
    parts = []
    try:
        process = Path(f"/proc/{pid}")
        with (process / "maps").open() as maps, (process / "mem").open("rb", 0) as memory:
            for line in maps:
                area, mode = line.split()[:2]
                if mode.startswith("rw"):
                    start, end = (int(each, 16) for each in area.split("-"))
                    memory.seek(start)
                    parts.append(memory.read(end - start))
    except PermissionError:
        pytest.skip("this kernel lets nobody read it")
    return b"".join(parts)
