"""Writes the session to a file: Markdown, HTML with colours, or JSON, by how its name ends."""

import os
from pathlib import Path

from agent_cli.commands._command import Command, Desk
from agent_cli.core.errors import UserError
from agent_cli.lib.files import write_atomic
from agent_cli.lib.language import mark, tr


def run(desk: Desk, argument: str) -> None:
    """To the file that is named, or to one named after the session."""
    from agent_cli.export import rendered  # noqa: PLC0415 (only an export needs it)

    session = desk.session
    if not session.is_kept:
        desk.warn(tr("There is nothing to export yet."))
        return
    name = os.path.expanduser(argument or f"session-{session.id}.md")  # noqa: PTH111 (an argument)
    file = Path(session.workspace.root) / name
    try:
        write_atomic(file, rendered(session.history(), file.name).encode("utf-8", "replace"))
    except UserError as error:
        desk.warn(error.message, error.hint)
    except OSError as error:
        why = error.strerror or error
        desk.warn(tr("{file} cannot be written: {why}.", file=file, why=why))
    else:
        desk.notify(tr("Written to {file}.", file=file))


COMMAND = Command(
    name="export",
    help=mark("write the session to a file: .md, .html, .json"),
    argument=mark("[file]"),
    run=run,
)
