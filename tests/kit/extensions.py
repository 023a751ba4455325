"""Extensions under test: a session that has them, and what they told the person."""

import asyncio
from collections.abc import Callable

from agent_cli.core.events import ApprovalAsked, Event, Notice
from agent_cli.core.inbox import Approval
from agent_cli.core.session import Session
from agent_cli.extension_setup import host_of
from agent_cli.extensions.host import Host
from tests.kit.sessions import HasSession


class Extended:
    """The extensions of a session, started; `answer` stands for the person."""

    def __init__(self, scene: HasSession) -> None:
        self.session: Session = scene.session
        self.told: list[Event] = []
        self.answer: Callable[[ApprovalAsked], Approval] = lambda _asked: Approval(answer="no")

    async def start(self) -> "Extended":
        """Load all, and wait for it."""
        self.session.start_extensions(self._tell)
        await self.session.extensions.wait_ready(60)
        return self

    @property
    def host(self) -> Host:
        found = host_of(self.session)
        assert found is not None
        return found

    @property
    def notices(self) -> str:
        """All that the person was told."""
        return "\n".join(
            f"{event.text} {event.hint}" for event in self.told if isinstance(event, Notice)
        )

    @property
    def names(self) -> set[str]:
        """The tools the model is offered."""
        return {tool.name for tool in self.session.tools}

    def _tell(self, event: Event) -> None:
        self.told.append(event)
        if isinstance(event, ApprovalAsked):
            asyncio.get_running_loop().call_soon(
                self.session.reply, event.request.id, self.answer(event)
            )


async def extended(scene: HasSession) -> Extended:
    """The extensions of a scene, all arrived."""
    return await Extended(scene).start()
