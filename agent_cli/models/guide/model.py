"""The guide as a model: it reads the conversation, and answers by rules."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

from agent_cli.core.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    text_of,
)
from agent_cli.core.model import Finish, ModelEvent, ModelRequest, Reply, TextChunk, Usage
from agent_cli.models.guide import NAME
from agent_cli.models.guide.phrases import say
from agent_cli.models.guide.plan import Act, Answer, Move, Outcome, Play, Wait
from agent_cli.models.guide.plans import plan_for
from agent_cli.models.guide.tour import stopped, tour
from agent_cli.models.guide.wishes import Language, Plain, language_of, understand, usual_language


class GuideModel:
    """Answers plain requests with ordinary tool calls. It costs nothing and asks nobody."""

    def __init__(self, scratch: Path | None = None, *, is_paced: bool = True) -> None:
        self.name = NAME
        self._scratch = scratch
        self._is_paced = is_paced

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Say what comes next."""
        reader = Reader(self._scratch, is_paced=self._is_paced)
        for message in request.messages:
            reader.read(message)
        move = _possible(reader.move, _offered(request), reader.language)
        for piece in _text(move).splitlines(keepends=True):
            yield TextChunk(piece)
            await asyncio.sleep(0)
        yield _reply(move, len(request.messages))


class Reader:
    """Reads a conversation from its beginning, to know where the guide stands at its end."""

    def __init__(self, scratch: Path | None, *, is_paced: bool) -> None:
        self._scratch = scratch
        self._is_paced = is_paced
        self._play: Play | None = None
        self._tour: Play | None = None
        self._tour_language: Language = usual_language()
        self._outcomes: list[Outcome] = []
        self._open = 0
        self._said: list[str] = []
        self.language: Language = usual_language()

    @property
    def move(self) -> Move:
        """What the guide does next."""
        if self._play is None:
            return Answer(say(self.language, "help"))
        return _with(self._said, self._play.move)

    def read(self, message: Message) -> None:
        """Take in one message."""
        match message:
            case UserMessage(origin="person"):
                self._hear_person(text_of(message.content))
            case AssistantMessage() if message.calls:
                self._open = len(message.calls) if message.model == NAME else 0
                self._outcomes = []
                self._said = []
            case ToolMessage() if self._open:
                self._outcomes.append(Outcome(text_of(message.content), message.is_error))
                if len(self._outcomes) == self._open and self._play is not None:
                    self._open = 0
                    self._play.hear(self._outcomes)
                    self._hurry()

    def _hear_person(self, text: str) -> None:
        wish = understand(text)
        self.language = language_of(text)
        self._open = 0
        self._said = []
        if isinstance(wish, Plain) and wish.kind == "tour":
            self._tour_language = self.language
            self._play = self._tour = Play(tour(self._scratch, self.language))
        elif isinstance(wish, Plain) and wish.kind == "next" and self._tour_is_on:
            self._play = self._tour
            self.language = self._tour_language
            if self._tour is not None:
                self._tour.go_on()
        elif isinstance(wish, Plain) and wish.kind == "stop" and self._tour_is_on:
            self._play, self._tour = Play(stopped(self._tour_language)), None
        else:
            self._play = Play(plan_for(wish, self.language))
        self._hurry()

    @property
    def _tour_is_on(self) -> bool:
        return self._tour is not None and not isinstance(self._tour.move, Answer)

    def _hurry(self) -> None:
        """Where nobody can press a key, pauses are passed over."""
        while not self._is_paced and self._play is not None and isinstance(self._play.move, Wait):
            self._said.append(self._play.move.text)
            self._play.go_on()


def _with(said: Sequence[str], move: Move) -> Move:
    """The move, with what was passed over before it."""
    return replace(move, text="\n\n".join([*said, move.text])) if said else move


def _offered(request: ModelRequest) -> set[str]:
    return {tool["function"]["name"] for tool in request.tools}


def _possible(move: Move, offered: set[str], language: Language) -> Move:
    """The move, or a word about a tool that is not there: plan mode offers none that change."""
    if isinstance(move, Act):
        for call in move.calls:
            if call.tool not in offered:
                return Answer(say(language, "not_offered", tool=call.tool))
    return move


def _reply(move: Move, position: int) -> Reply:
    calls = tuple(
        ToolCall(
            id=f"guide-{position}-{number}",
            name=call.tool,
            arguments=json.dumps(call.arguments, ensure_ascii=False),
        )
        for number, call in enumerate(move.calls if isinstance(move, Act) else ())
    )
    return Reply(
        AssistantMessage(text=_text(move), calls=calls, model=NAME),
        Finish.CALLS if calls else Finish.STOP,
        Usage(cost=0.0),
        suggestion="" if isinstance(move, Act) else move.suggestion,
    )


def _text(move: Move) -> str:
    return f"{move.text}\n\n*{move.hint}*" if isinstance(move, Wait) else move.text
