"""Puts text on the clipboard."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.core.messages import AssistantMessage, Message, UserMessage, text_of
from agent_cli.lib.language import mark, tr


def run(controller: Controller, argument: str) -> None:
    """The last reply, or with `all` the whole conversation."""
    said = [_text(message) for message in controller.session.messages]
    replies = [text for is_reply, text in said if text and (is_reply or argument == "all")]
    if not replies:
        controller.warn(tr("Nothing to copy yet."))
        return
    controller.view.copy("\n\n".join(replies) if argument == "all" else replies[-1])


def _text(message: Message) -> tuple[bool, str]:
    """Whether the model said it, and what was said; empty where nobody said anything."""
    match message:
        case AssistantMessage():
            return True, message.text.strip()
        case UserMessage(origin="person"):
            return False, text_of(message.content).strip()
        case _:
            return False, ""


COMMAND = Command(
    name="copy",
    help=mark("copy the last reply, or the whole conversation"),
    argument="[all]",
    run=run,
)
