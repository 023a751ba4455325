"""How fast `agent` answers, and how soon its first request is on the wire."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from bench.rows import Row, at_most, for_information
from bench.timing import ratio, samples, seconds

ROUNDS = 15
REQUEST_ROUNDS = 5
LONGEST = 60.0

ROOT = Path(__file__).parents[1]
PYTHON = sys.executable
AGENT = Path(sys.executable).with_name("agent")
MODELS = ("openai/gpt-4o", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash")


def run() -> list[Row]:
    """Measure both, each beside the bare Python that it is compared with."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        return [*_answers(place), *_first_requests(place)]


def _answers(place: Path) -> list[Row]:
    commands = {
        "python -c pass": [PYTHON, "-c", "pass"],
        "agent --version": [str(AGENT), "--version"],
        "agent --help": [str(AGENT), "--help"],
    }
    taken = samples({name: _timed(argv, place) for name, argv in commands.items()}, ROUNDS)
    bare = taken["python -c pass"]
    return [
        for_information("python -c pass", sorted(bare)[len(bare) // 2] * 1000, "ms"),
        *(
            at_most(f"{name} / python -c pass", ratio(taken[name], bare), "×", 3)
            for name in commands
            if name.startswith("agent")
        ),
    ]


def _first_requests(place: Path) -> list[Row]:
    bare = "import litellm"
    rivals: dict[str, Callable[[], float]] = {bare: _timed([PYTHON, "-c", bare], place)}
    rivals |= {model: _first_request(model, place) for model in MODELS}
    with _warm_process(place) as warm:
        rivals["warm"] = _first_request(MODELS[0], place, {"XDG_RUNTIME_DIR": warm})
        taken = samples(rivals, REQUEST_ROUNDS)
    return [
        for_information(bare, sorted(taken[bare])[REQUEST_ROUNDS // 2] * 1000, "ms"),
        *(
            at_most(f"first request, {model} / {bare}", ratio(taken[model], taken[bare]), "×", 1.25)
            for model in MODELS
        ),
        at_most(f"first request, warm / {bare}", ratio(taken["warm"], taken[bare]), "×", 0.4),
    ]


@contextlib.contextmanager
def _warm_process(place: Path) -> Iterator[str]:
    runtime = place / "runtime"
    runtime.mkdir()
    environment = {**_environment(place), "XDG_RUNTIME_DIR": str(runtime)}
    argv = [PYTHON, "-P", "-m", "agent_cli.models.warm_process", MODELS[0], "60", "0"]
    process = subprocess.Popen(argv, cwd="/", env=environment)
    try:
        while not [each for each in runtime.glob("agent/*") if each.is_socket()]:
            time.sleep(0.1)
        yield str(runtime)
    finally:
        process.kill()
        process.wait()


def _timed(argv: list[str], place: Path) -> Callable[[], float]:
    def work() -> None:
        subprocess.run(
            argv, cwd=place, env=_environment(place), check=True, stdout=subprocess.DEVNULL
        )

    return lambda: seconds(work)


def _first_request(
    model: str, place: Path, more: Mapping[str, str] | None = None
) -> Callable[[], float]:
    def measure() -> float:
        with _listening() as (server, address):
            argv = [str(AGENT), "-p", "hi", "--model", model, "--api-base", address]
            started = time.perf_counter()
            process = subprocess.Popen(
                argv,
                cwd=place,
                env={**_environment(place), **(more or {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                _wait_for_request(server)
                return time.perf_counter() - started
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    return measure


@contextlib.contextmanager
def _listening() -> Iterator[tuple[socket.socket, str]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(LONGEST)
        yield server, f"http://127.0.0.1:{server.getsockname()[1]}"


def _wait_for_request(server: socket.socket) -> None:
    """Wait for the first byte of a POST; a connection alone is no request."""
    while True:
        connection, _ = server.accept()
        with connection:
            connection.settimeout(LONGEST)
            if connection.recv(4) == b"POST":
                return


def _environment(place: Path) -> dict[str, str]:
    """The same for all: this checkout's code, no configuration, no network for the price list."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(place),
        "CI": "1",  # so that no warm process is started beside what is measured
        "PYTHONPATH": str(ROOT),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "NO_PROXY": "127.0.0.1",
        **{f"{name}_API_KEY": "not-a-key" for name in ("OPENAI", "ANTHROPIC", "GEMINI")},
    }
