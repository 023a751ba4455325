"""An editor: the client side of agent-client-protocol, with the real `agent acp` as its child."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from acp import PROTOCOL_VERSION, RequestError, spawn_agent_process
from acp.client.connection import ClientSideConnection
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    PermissionOption,
    RequestPermissionResponse,
    TextContentBlock,
    ToolCallUpdate,
)

from tests.kit.program import AGENT, Program

PATIENCE = 120.0
"""Seconds; only a machine that hangs takes as long."""


class Asked:
    """A permission that was asked for, and waits until the test answers."""

    def __init__(self, call: ToolCallUpdate, options: list[PermissionOption]) -> None:
        self.call = call
        self.options = {option.option_id: option for option in options}
        self.answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    def choose(self, option: str | None) -> None:
        """An option by its id; None: the turn was cancelled."""
        self.answer.set_result(option)


class Editor:
    """Records what it is told, and holds what it is asked."""

    def __init__(self) -> None:
        self.updates: list[tuple[str, Any]] = []
        self.asked: list[Asked] = []
        self.forms: list[Any] = []
        self.filled: dict[str, Any] = {}
        """What every form is answered with."""
        self._news = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_more: Any) -> None:
        self.updates.append((session_id, update))
        self._news.set()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        asked = Asked(tool_call, options)
        self.asked.append(asked)
        self._news.set()
        chosen = await asked.answer
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(
            outcome=AllowedOutcome(outcome="selected", option_id=chosen)
        )

    async def create_elicitation(self, message: str, mode: Any, **_more: Any) -> Any:
        self.forms.append(mode)
        return AcceptElicitationResponse(action="accept", content=self.filled)

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        return None

    def on_connect(self, conn: Any) -> None:
        """The agent is there."""

    async def until(self, what: Callable[[], Any]) -> Any:
        """Wait until something has come in; returns what was looked for."""
        async with asyncio.timeout(PATIENCE):
            while not (found := what()):
                self._news.clear()
                await self._news.wait()
            return found

    async def question(self, number: int = 0) -> Asked:
        """The permission asked for as the first, second … of all."""
        await self.until(lambda: len(self.asked) > number)
        return self.asked[number]

    def of(self, session: str, kind: str) -> list[Any]:
        """The updates of one kind that a session got."""
        return [u for owner, u in self.updates if owner == session and u.session_update == kind]

    def text(self, session: str, kind: str = "agent_message_chunk") -> str:
        """What was said in a session, joined."""
        return "".join(update.content.text for update in self.of(session, kind))

    def call(self, session: str, call_id: str) -> list[Any]:
        """All that was told of one call."""
        kinds = ("tool_call", "tool_call_update")
        return [u for kind in kinds for u in self.of(session, kind) if u.tool_call_id == call_id]


@asynccontextmanager
async def running_editor(
    program: Program, *arguments: str, capabilities: ClientCapabilities | None = None
) -> AsyncIterator[tuple[Editor, ClientSideConnection, asyncio.subprocess.Process]]:
    """An editor that has said hello."""
    editor = Editor()
    with (program.home / "stderr").open("ab") as errors:
        async with spawn_agent_process(
            editor,  # type: ignore[arg-type]
            AGENT,
            "acp",
            *arguments,
            env=program.environment(),
            cwd=program.home,
            transport_kwargs={"stderr": errors, "limit": 2**24, "shutdown_timeout": PATIENCE},
            use_unstable_protocol=True,
        ) as (connection, process):
            async with asyncio.timeout(PATIENCE):
                await connection.initialize(
                    protocol_version=PROTOCOL_VERSION,
                    client_capabilities=capabilities or ClientCapabilities(),
                )
            yield editor, connection, process


def text(words: str) -> list[Any]:
    """A prompt of words alone."""
    return [TextContentBlock(type="text", text=words)]
