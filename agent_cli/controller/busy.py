"""Says that something has to wait, what, and for what."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from agent_cli.core.errors import UserError
from agent_cli.lib.language import tr

_COMMAND: ContextVar[str] = ContextVar("command", default="")
"""The slash command that is being carried out, in its tasks too."""


@contextmanager
def carry_out(command: str) -> Iterator[None]:
    """Whatever has to wait in here is this command."""
    token = _COMMAND.set(command)
    try:
        yield
    finally:
        _COMMAND.reset(token)


def refuse(*, is_playing: bool) -> UserError:
    """What is said while a turn is under way, or while a command asks before it restores files."""
    name = _COMMAND.get()
    if is_playing:
        said = tr("The agent is still working.")
        if name:
            said = tr("/{name} has to wait: the agent is still working.", name=name)
        return UserError(said, hint=tr("Interrupt it first, or wait."))
    said = tr("Another command is not finished.")
    if name:
        said = tr("/{name} has to wait: another command is not finished.", name=name)
    return UserError(said, hint=tr("Answer its question first."))
