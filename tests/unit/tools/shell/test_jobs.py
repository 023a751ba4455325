"""Commands in the background can be read bit by bit, listed and ended."""

from pathlib import Path

import pytest

from agent_cli.core.messages import text_of
from tests.kit.shells import Bench, until

STEPS = (
    "i=0; while :; do until [ -e step$i ]; do sleep 0.01; done; cat step$i; i=$((i+1));"
    " [ -e last$i ] && exit 4; done"
)


def step(bench: Bench, number: int, text: bytes) -> None:
    made = bench.root / f"new{number}"
    made.write_bytes(text)
    made.rename(bench.root / f"step{number}")


async def said(bench: Bench, job: str, filter: str | None = None) -> str:
    return text_of((await bench.read(job, filter)).llm_content)


async def test_new_output_is_read_once(bench: Bench) -> None:
    result = await bench.bash(STEPS, run_in_background=True)
    assert "job bash_1" in text_of(result.llm_content)
    command = bench.jobs.find("bash_1").command
    step(bench, 0, b"one\n")
    await until(lambda: command.output.size == 4)
    assert (await said(bench, "bash_1")).startswith("one\n[bash_1: running for ")
    assert (await said(bench, "bash_1")).startswith("[no new output; bash_1: running for ")
    (bench.root / "last2").touch()
    step(bench, 1, b"two\n")
    await until(lambda: not command.is_running)
    assert (await said(bench, "bash_1")).startswith("two\n[bash_1: ended with exit code 4")


async def test_half_a_character_waits_for_its_other_half(bench: Bench) -> None:
    await bench.bash(STEPS, run_in_background=True)
    command = bench.jobs.find("bash_1").command
    step(bench, 0, "aü".encode()[:-1])
    await until(lambda: command.output.size == 2)
    assert (await said(bench, "bash_1")).startswith("a\n")
    step(bench, 1, "ü".encode()[-1:])
    await until(lambda: command.output.size == 3)
    assert (await said(bench, "bash_1")).startswith("ü\n")


async def test_a_filter_picks_lines_and_the_rest_counts_as_read(bench: Bench) -> None:
    await bench.bash(STEPS, run_in_background=True)
    command = bench.jobs.find("bash_1").command
    step(bench, 0, b"error: a\nnoise\nerror: b\nunfinished err")
    await until(lambda: command.output.size == 38)
    assert (await said(bench, "bash_1", "^err")).startswith("error: a\nerror: b\n[")
    step(bench, 1, b"or\nmore\n")
    await until(lambda: command.output.size == 46)
    assert (await said(bench, "bash_1", "err")).startswith("unfinished error\n[")
    assert (await said(bench, "bash_1")).startswith("[no new output")


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(.*)*x", "-e", "--pre=touch x", "^-"])
async def test_a_filter_cannot_run_away_or_be_taken_for_an_option(
    bench: Bench, pattern: str
) -> None:
    await bench.bash("printf 'a%.0s' {1..5000}; echo !; sleep 1000", run_in_background=True)
    await until(lambda: bench.jobs.find("bash_1").command.output.size > 5000)
    assert "bash_1: running" in await said(bench, "bash_1", pattern)
    assert not (bench.root / "x").exists()


async def test_a_broken_filter_is_told(bench: Bench) -> None:
    await bench.bash("echo a; sleep 1000", run_in_background=True)
    result = await bench.read("bash_1", "(")
    assert result.error is not None
    assert "not a valid regular expression" in result.error.message


async def test_an_unknown_job_is_answered_with_the_known_ones(bench: Bench) -> None:
    assert "No job was started" in await said(bench, "bash_9")
    await bench.bash("sleep 1000", run_in_background=True)
    told = await said(bench, "bash_9")
    assert "bash_1: running for " in told
    assert "sleep 1000" in told
    assert "bash_1" in text_of((await bench.kill("bash_9")).llm_content)


async def test_a_job_can_be_ended(bench: Bench) -> None:
    await bench.bash("echo last words; sleep 1000", run_in_background=True)
    await until(lambda: bench.jobs.find("bash_1").command.output.size)
    assert (await bench.kill("bash_1")).success
    assert bench.running() == []
    told = await said(bench, "bash_1")  # bash may say "Terminated" of the sleep before it ends
    assert told.startswith("last words\n")
    assert told.endswith("[bash_1: killed]")
    assert "is not running" in text_of((await bench.kill("bash_1")).llm_content)


async def test_a_long_command_becomes_a_job_by_itself(tmp_path: Path) -> None:
    bench = Bench(tmp_path, auto_background_after=2)
    told = await bench.says("echo early; until [ -e go ]; do sleep 0.01; done; echo late; cd /")
    assert told.startswith("early\n[Still running after ")
    assert "job bash_1" in told
    (bench.root / "go").touch()
    await until(lambda: not bench.jobs.find("bash_1").command.is_running)
    assert (await said(bench, "bash_1")).startswith("late\n[bash_1: ended with exit code 0")
    assert await bench.says("pwd") == str(bench.root)
    await bench.close()


async def test_it_never_becomes_one_when_that_is_switched_off(tmp_path: Path) -> None:
    bench = Bench(tmp_path, auto_background_after=0)
    assert "timed out" in await bench.says("sleep 1000", timeout=300)
    await bench.close()


async def test_what_a_command_leaves_running_is_a_job(bench: Bench) -> None:
    result = await bench.bash(
        "(until [ -e go ]; do sleep 0.01; done; echo served; sleep 1000) & echo up"
    )
    assert result.success
    assert text_of(result.llm_content).startswith("up\n[what it started in the background")
    command = bench.jobs.find("bash_1").command
    (bench.root / "go").touch()
    await until(lambda: command.output.size > 3)
    assert (await said(bench, "bash_1")).startswith("served\n[bash_1: running")
    await bench.kill("bash_1")
    assert bench.running() == []


async def test_what_a_command_leaves_running_silently_is_a_job_too(bench: Bench) -> None:
    result = await bench.bash("sleep 1000 >/dev/null 2>&1 & echo up")
    assert result.metadata["job_id"] == "bash_1"


async def test_a_straggler_that_ends_soon_is_waited_for(bench: Bench) -> None:
    result = await bench.bash("echo a > >(cat)")
    assert text_of(result.llm_content) == "a"


async def test_jobs_can_be_listed(bench: Bench) -> None:
    await bench.bash("sleep 1000", run_in_background=True)
    await bench.bash("true", run_in_background=True)
    await until(lambda: not bench.jobs.find("bash_2").command.is_running)
    assert [(job.id, job.status, job.command.text) for job in bench.jobs] == [
        ("bash_1", "running", "sleep 1000"),
        ("bash_2", "ended", "true"),
    ]
    assert all(job.command.pid and job.command.started_at for job in bench.jobs)


async def test_old_jobs_are_forgotten(bench: Bench) -> None:
    for _ in range(23):
        await bench.bash("true", run_in_background=True)
        job = list(bench.jobs)[-1]
        await until(lambda job=job: not job.command.is_running)  # type: ignore[misc]
    assert len(bench.jobs) <= 21


async def test_without_an_id_all_jobs_are_listed(bench: Bench) -> None:
    assert await said(bench, "") == "There are no background jobs."
    await bench.bash("sleep 60", run_in_background=True)
    await bench.bash("sleep 61", run_in_background=True)
    first, second = (await said(bench, "")).splitlines()
    assert first.startswith("bash_1: running for ")
    assert second.endswith(": sleep 61")
