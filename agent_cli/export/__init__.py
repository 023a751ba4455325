"""Sessions as documents: Markdown, HTML with colours, JSON."""

from collections.abc import Callable
from pathlib import PurePath

from agent_cli.core.errors import UserError
from agent_cli.core.log.history import History
from agent_cli.export.html_export import as_html
from agent_cli.export.json_export import as_json
from agent_cli.export.markdown_export import as_markdown
from agent_cli.lib.language import tr

FORMATS: dict[str, Callable[[History], str]] = {
    ".md": as_markdown,
    ".html": as_html,
    ".json": as_json,
}
"""What is written, by how the file's name ends."""


def render_export(history: History, file_name: str) -> str:
    """The session in the format that the name of the file asks for; raises UserError."""
    suffix = PurePath(file_name).suffix.lower()
    suffix = {".htm": ".html", ".markdown": ".md", "": ".md"}.get(suffix, suffix)
    if suffix not in FORMATS:
        raise UserError(
            tr("Cannot export a session as {suffix}.", suffix=suffix),
            hint=tr("Use {formats}.", formats=", ".join(FORMATS)),
        )
    return FORMATS[suffix](history)
