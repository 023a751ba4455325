"""The parent's end of the worker, with a process that speaks its protocol."""

import asyncio
import subprocess
import sys
import time

from agent_cli.models.worker_process import WorkerProcess

ANSWERING = """
import json, sys
print(json.dumps({"op": "ready"}), flush=True)
for line in sys.stdin:
    said = json.loads(line)
    if said["op"] == "ping":
        print(json.dumps({"op": "pong"}), flush=True)
    elif "id" in said:
        print(json.dumps({"op": "done", "id": said["id"]}), flush=True)
"""
SILENT = 'import json, sys\nprint(json.dumps({"op": "ready"}), flush=True)\nsys.stdin.read()'


def start(script: str) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", script], stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0
    )


async def test_a_pause_of_our_own_does_not_end_a_healthy_worker() -> None:
    process = start(ANSWERING)
    worker = WorkerProcess(process, patience=1.0)
    await worker.prime("model")
    for _ in range(2):
        await asyncio.sleep(0.4)  # it has said that it is ready, and answered
        time.sleep(1.5)  # noqa: ASYNC251 (as if this process had been stopped)
    await asyncio.sleep(0.6)
    assert worker.pid == process.pid
    assert [answer["op"] async for answer in worker.request({"op": "complete"})] == ["done"]
    await worker.close()


async def test_a_worker_that_does_not_answer_is_ended() -> None:
    worker = WorkerProcess(start(SILENT), patience=0.4)
    await worker.prime("model")
    async with asyncio.timeout(10):
        while worker.pid is not None:  # noqa: ASYNC110 (nobody tells when)
            await asyncio.sleep(0.05)
