"""Sessions for tests: real parts, a scripted model, a directory of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from agent_cli.config.schema import Settings
from agent_cli.core.events import ApprovalAsked, Event, ToolFinished, TurnFinished
from agent_cli.core.inbox import Approval
from agent_cli.core.messages import AssistantMessage, Message, ToolMessage
from agent_cli.core.model import ModelFacts
from agent_cli.core.session import Session
from agent_cli.core.tool import AnyTool
from agent_cli.launch_options import LaunchOptions, Resume
from agent_cli.models.scripted import ScriptedModel
from agent_cli.runtime import built_in_tools, find_session, open_session

E = TypeVar("E")


@dataclass
class OneModel:
    """A source that knows some scripted models by name."""

    models: Mapping[str, ScriptedModel]
    facts: ModelFacts = ModelFacts()
    own_facts: Mapping[str, ModelFacts] = field(default_factory=dict)

    def get(self, name: str) -> ScriptedModel:
        return self.models[name]

    async def warm(self, name: str) -> None:
        pass

    async def describe(self, name: str) -> ModelFacts:
        return self.own_facts.get(name, self.facts)

    async def close(self) -> None:
        pass


class HasSession(Protocol):
    """Anything with a session in it."""

    @property
    def session(self) -> Session: ...


async def play_turn(
    scene: HasSession,
    prompt: str = "go",
    answer: Callable[[ApprovalAsked], Approval | None] | None = None,
) -> list[Event]:
    """Play a turn; `answer` is asked whenever the person would be."""
    events: list[Event] = []
    async with asyncio.timeout(60), aclosing(scene.session.run(prompt)) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, ApprovalAsked) and answer is not None:
                given = answer(event)
                if given is not None:
                    scene.session.reply(event.request.id, given)
    return events


@dataclass
class Scene:
    """A session under test and what belongs to it."""

    session: Session
    model: ScriptedModel
    workspace: Path
    home: Path
    models: Mapping[str, ScriptedModel] = field(default_factory=dict)
    """All models it knows, by name."""

    play = play_turn


def of_type(events: Iterable[Event], kind: type[E]) -> list[E]:
    """The events of one type."""
    return [event for event in events if isinstance(event, kind)]


def finish(events: Sequence[Event]) -> TurnFinished:
    """The end of a turn."""
    last = events[-1]
    assert isinstance(last, TurnFinished)
    return last


def results(events: Iterable[Event]) -> dict[str, ToolFinished]:
    """What came of each call, by id."""
    return {event.call_id: event for event in of_type(events, ToolFinished)}


def assert_valid(messages: tuple[Message, ...]) -> None:
    """What every provider demands: each call exactly one result, right after, in order."""
    position = 0
    seen: set[str] = set()
    while position < len(messages):
        message = messages[position]
        position += 1
        assert not isinstance(message, ToolMessage), "a result without its call"
        if isinstance(message, AssistantMessage):
            for wanted in message.calls:
                assert wanted.id
                assert wanted.id not in seen
                seen.add(wanted.id)
                result = messages[position]
                assert isinstance(result, ToolMessage)
                assert result.call_id == wanted.id
                position += 1


class SceneMaker:
    """Makes sessions in a temporary directory and closes them."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._made: list[Session] = []
        self.workspace = directory / "project"
        self.home = directory / "home"
        self.workspace.mkdir()
        self.home.mkdir()

    def __call__(
        self,
        *steps: Mapping[str, Any],
        settings: Mapping[str, Any] | None = None,
        models: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
        files: Mapping[str, str] | None = None,
        trust: bool = True,
        attended: bool = True,
        tools: tuple[str, ...] | None = None,
        environment: Mapping[str, str] | None = None,
        extra: Sequence[AnyTool] = (),
        window: int | None = None,
        resume: Resume | None = None,
        facts: Mapping[str, ModelFacts] | None = None,
        profile: str = "",
        flags: Mapping[str, Any] | None = None,
    ) -> Scene:
        self.write(files or {})
        environment = {
            "HOME": str(self.home),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            **(environment or {}),
        }
        scripted = {"scripted": ScriptedModel(steps)}
        scripted |= {name: ScriptedModel(own, name) for name, own in (models or {}).items()}
        limits = {"retries": 2, **dict((settings or {}).get("limits", {}))}
        merged = {"model": "scripted", **(settings or {}), **(flags or {}), "limits": limits}
        registry = built_in_tools()
        for tool in extra:
            registry.register(tool)
        launch_options = LaunchOptions(
            cwd=self.workspace,
            trust=trust,
            attended=attended,
            tools=tools,
            resume=resume,
            profile=profile,
            settings=flags or {},
        )
        session = open_session(
            find_session(launch_options, environment),
            Settings.model_validate(merged),
            environment=environment,
            models=OneModel(scripted, ModelFacts(window), facts or {}),
            registry=registry,
        )
        self._made.append(session)
        return Scene(session, scripted["scripted"], self.workspace, self.home, scripted)

    def write(self, files: Mapping[str, str]) -> None:
        """Put files into the workspace."""
        for name, text in files.items():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    async def close(self) -> None:
        for session in self._made:
            await session.close()
