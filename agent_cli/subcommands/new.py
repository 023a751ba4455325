"""`agent new tool NAME`: writes a working example of a tool, and its test."""

import argparse
import keyword
import os
from pathlib import Path

from agent_cli.config.user_directories import Directories
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.extension_setup import PROJECT_TOOLS
from agent_cli.extensions.tool_template import test_text, tool_text
from agent_cli.lib.language import tr
from agent_cli.runtime import built_in_tools
from agent_cli.safety.terminal import write_out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `agent new`."""
    parser.add_argument("what", choices=("tool",), help=tr("what to create"))
    parser.add_argument("name", metavar="NAME", help=tr("its name, such as weather"))
    where = tr("create it in this project ({folder})", folder=PROJECT_TOOLS)
    parser.add_argument("--project", action="store_true", help=where)


def run(options: argparse.Namespace) -> int:
    """Write both files; nothing is overwritten."""
    name: str = options.name
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith(("_", "test_")):
        hint = tr("Use letters, digits and underscores.")
        raise UserError(tr("{name!r} is not a valid tool name.", name=name), hint=hint)
    if (taken := built_in_tools().get(name)) is not None:
        hint = tr("Choose another name.")
        raise UserError(tr("{name} is a built-in tool.", name=taken.name), hint=hint)
    directory = (
        Path(PROJECT_TOOLS) if options.project else Directories.of(os.environ).config / "tools"
    )
    written = {
        directory / f"{name}.py": tool_text(name),
        directory / f"test_{name}.py": test_text(name),
    }
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for path, text in written.items():
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
            write_out(f"{path}\n")
    except FileExistsError as error:
        raise UserError(tr("{path} already exists.", path=error.filename)) from error
    except OSError as error:
        values = {"path": error.filename, "error": error.strerror}
        raise UserError(tr("Can't write {path}: {error}.", **values)) from error
    said = tr("Edit it as you like. In a running session, /reload loads it.")
    if options.project:
        said = tr("Edit it as you like. Trust the folder again, then /reload loads it.")
    write_out(f"{said}\n")
    return ExitCode.DONE
