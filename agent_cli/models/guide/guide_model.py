"""The guide as a model: it reads the conversation, and answers by rules."""

import asyncio
import json
from collections.abc import AsyncIterator
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
from agent_cli.lib.language import tr
from agent_cli.models.guide import NAME
from agent_cli.models.guide.intents import Request, understand
from agent_cli.models.guide.plan_steps import Act, FinalText, Move, Outcome, Play
from agent_cli.models.guide.plans import plan_for
from agent_cli.models.guide.tour import tour


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
        move = reader.move
        offered = {tool["function"]["name"] for tool in request.tools}
        if isinstance(move, Act) and move.tool not in offered:
            move = FinalText(_not_offered(move.tool))
        text = _text(move)
        for piece in text.splitlines(keepends=True):
            yield TextChunk(piece)
            await asyncio.sleep(0)
        yield _reply(move, text, len(request.messages))


class Reader:
    """Reads a conversation from its beginning, to know where the guide is at its end."""

    def __init__(self, scratch: Path | None, *, is_paced: bool) -> None:
        self._scratch = scratch
        self._is_paced = is_paced
        self._play = Play(plan_for(Request("help")))
        self._tour: Play | None = None
        self._is_waiting = False
        self._passed: list[str] = []
        """What was said at pauses that were passed over."""

    @property
    def move(self) -> Move:
        """What the guide does next."""
        move = self._play.move
        return replace(move, text="\n\n".join((*self._passed, move.text)))

    def read(self, message: Message) -> None:
        """Take in one message."""
        match message:
            case UserMessage(origin="person"):
                self._passed = []
                self._begin(understand(text_of(message.content)))
            case AssistantMessage() if message.calls:
                self._passed = []
                self._is_waiting = message.model == NAME
            case ToolMessage() if self._is_waiting:
                self._is_waiting = False
                text = text_of(message.content)
                self._play.hear(Outcome(text, message.is_error, message.is_declined))
        while not self._is_paced and self._play.is_paused:  # nobody can press a key
            self._passed.append(self._play.move.text)
            self._play.resume()

    def _begin(self, request: Request) -> None:
        self._is_waiting = False
        tour_is_on = self._tour is not None and _is_under_way(self._tour)
        if request.kind == "tour":
            self._play = self._tour = Play(tour(self._scratch))
        elif request.kind == "next" and self._tour is not None and tour_is_on:
            self._play = self._tour
            self._tour.resume()
        elif request.kind == "stop" and tour_is_on:
            self._play, self._tour = Play(plan_for(Request("stop", {"tour": "over"}))), None
        else:
            self._play = Play(plan_for(request))


def _is_under_way(play: Play) -> bool:
    return play.is_paused or isinstance(play.move, Act)


def _not_offered(tool: str) -> str:
    """Plan mode offers no tool that changes something."""
    return tr(
        "I can't do that now: {tool} isn't available in this mode. Plan mode changes nothing; "
        "Shift+Tab switches the mode.",
        tool=tool,
    )


def _reply(move: Move, text: str, position: int) -> Reply:
    calls: tuple[ToolCall, ...] = ()
    if isinstance(move, Act):
        arguments = json.dumps(move.arguments, ensure_ascii=False)
        calls = (ToolCall(id=f"guide-{position}-0", name=move.tool, arguments=arguments),)
    return Reply(
        AssistantMessage(text=text, calls=calls, model=NAME),
        Finish.CALLS if calls else Finish.STOP,
        Usage(cost=0.0),
        suggestion=move.suggestion if isinstance(move, FinalText) else "",
    )


def _text(move: Move) -> str:
    hint = move.hint if isinstance(move, FinalText) else ""
    return f"{move.text}\n\n*{hint}*" if hint else move.text
