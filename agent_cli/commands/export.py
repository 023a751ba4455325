"""Writes the session to a file: Markdown, HTML with colours, or JSON, by how its name ends."""

import os
from pathlib import Path

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.lib.files import write_atomic
from agent_cli.lib.language import mark, tr


def run(controller: Controller, argument: str) -> None:
    """To the file that is named, or to one named after the session."""
    from agent_cli.export import render_export  # noqa: PLC0415 (only an export needs it)

    session = controller.session
    if not session.is_kept:
        controller.warn(tr("Nothing to export yet."))
        return
    name = os.path.expanduser(argument or f"session-{session.id}.md")  # noqa: PTH111 (an argument)
    file = Path(session.workspace.root) / name
    try:
        write_atomic(file, render_export(session.history(), file.name).encode("utf-8", "replace"))
    except OSError as error:
        why = error.strerror or error
        controller.warn(tr("Couldn't write {file}: {why}.", file=file, why=why))
    else:
        controller.notify(tr("Exported to {file}.", file=file))


COMMAND = Command(
    name="export",
    help=mark("export the session: .md, .html or .json"),
    argument=mark("[file]"),
    run=run,
)
