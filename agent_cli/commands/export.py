"""Takes what was said out of the session: to a file or to the clipboard."""

import os
from pathlib import Path

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import slash_command
from agent_cli.core.messages import AssistantMessage, Message, UserMessage, text_of
from agent_cli.lib.files import write_atomic
from agent_cli.lib.language import mark, tr


@slash_command("export", mark("export the session: .md, .html or .json"), mark("[file]"))
def export_session(controller: Controller, argument: str) -> None:
    """To the file that is named, or to one named after the session."""
    from agent_cli.export import render_export  # noqa: PLC0415 (only an export needs it)

    session = controller.session
    if not session.is_kept:
        controller.warn(tr("Nothing to export yet."))
        return
    name = os.path.expanduser(argument or f"session-{session.id}.md")  # noqa: PTH111 (an argument)
    file = Path(session.workspace.root) / name
    try:
        text = render_export(session.history(), file.name)
        write_atomic(file, text.encode("utf-8", "replace"), mode=0o600)
    except OSError as error:
        why = error.strerror or error
        controller.warn(tr("Couldn't write {file}: {why}.", file=file, why=why))
    else:
        controller.view.notify(tr("Exported to {file}.", file=file))


@slash_command("copy", mark("copy the last reply, or the whole conversation"), "[all]")
def copy_text(controller: Controller, argument: str) -> None:
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
