"""The widgets that a chat is shown with."""

from dataclasses import dataclass

from agent_cli.frontends.tui.body import Body
from agent_cli.frontends.tui.composer import Composer
from agent_cli.frontends.tui.transcript import Transcript
from agent_cli.frontends.tui.working import WorkingLine


@dataclass(frozen=True)
class Widgets:
    """From top to bottom."""

    body: Body
    working: WorkingLine
    composer: Composer

    @property
    def transcript(self) -> Transcript:
        """The conversation."""
        return self.body.transcript
