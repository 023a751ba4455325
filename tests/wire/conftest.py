"""Sessions whose model is the real LiteLLM, asked over HTTP at a scripted server."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent_cli.config.schema import Settings
from agent_cli.core.session import Session
from agent_cli.launch_options import LaunchOptions
from agent_cli.models.source import ModelSource
from agent_cli.models.worker_process import WorkerProcess
from agent_cli.runtime import model_source, open_session
from tests.kit.model_server import ModelServer
from tests.kit.sessions import SceneMaker, play_turn

WIRES = {
    "openai": ("openai/gpt-4o", "/v1"),
    "anthropic": ("anthropic/claude-sonnet-4-5", ""),
    "gemini": ("gemini/gemini-2.5-flash", "/v1beta"),
}
KEYS = {
    "OPENAI_API_KEY": "sk-proj-0123456789abcdefghijABCDEFGHIJ",
    "ANTHROPIC_API_KEY": "sk-ant-api03-0123456789abcdefghijABCDEFGHIJ",
    "GEMINI_API_KEY": "AIzaSy0123456789abcdefghijABCDEFGHIJKLM",
}


class SharedWorker:
    """A source of models whose worker outlives the session."""

    def __init__(self, source: ModelSource) -> None:
        self.get = source.get
        self.warm = source.warm
        self.describe = source.describe

    async def close(self) -> None:
        """Leave the worker to the next test."""


@dataclass
class WireScene:
    """A session that talks to a scripted server."""

    session: Session
    server: ModelServer
    workspace: Path
    worker: WorkerProcess

    play = play_turn


class WireSceneMaker:
    """Makes sessions for one test."""

    def __init__(self, maker: SceneMaker, server: ModelServer, worker: WorkerProcess) -> None:
        self._maker = maker
        self.server = server
        self._worker = worker
        self._made: list[Session] = []

    def __call__(
        self,
        wire: str = "openai",
        *,
        settings: Mapping[str, Any] | None = None,
        files: Mapping[str, str] | None = None,
        api_base: str | None = None,
        attended: bool = False,
        worker: WorkerProcess | None = None,
    ) -> WireScene:
        self._maker.write(files or {})
        model, suffix = WIRES[wire]
        merged = Settings.model_validate(
            {
                "model": model,
                "api_base": api_base or self.server.url + suffix,
                "models": {
                    name: {"api_base": self.server.url + base} for name, base in WIRES.values()
                }
                if api_base is None
                else {},
                **(settings or {}),
            }
        )
        source = model_source(merged, KEYS, worker or self._worker)
        session = open_session(
            LaunchOptions(cwd=self._maker.workspace, trust=True, attended=attended),
            merged,
            environment={"HOME": str(self._maker.home), "PATH": "/usr/bin:/bin", **KEYS},
            models=SharedWorker(source),
        )
        self._made.append(session)
        return WireScene(session, self.server, self._maker.workspace, worker or self._worker)

    async def close(self) -> None:
        for session in self._made:
            await session.close()


@pytest.fixture(scope="session")
async def worker() -> AsyncIterator[WorkerProcess]:
    """One worker for all: LiteLLM takes seconds to load."""
    process = WorkerProcess()
    yield process
    await process.close()


@pytest.fixture
async def make_wire(tmp_path: Path, worker: WorkerProcess) -> AsyncIterator[WireSceneMaker]:
    """Makes sessions that talk to a scripted server through LiteLLM."""
    async with ModelServer() as server:
        maker = WireSceneMaker(SceneMaker(tmp_path), server, worker)
        yield maker
        await maker.close()
