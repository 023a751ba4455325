"""`agent serve`: the app in a browser on this machine."""

import argparse
import asyncio
import os
import socket
import sys
from importlib.util import find_spec
from pathlib import Path

from agent_cli.core.errors import ExitCode, UserError
from agent_cli.folder import load_settings
from agent_cli.launch_options import LaunchOptions
from agent_cli.lib.language import tr
from agent_cli.safety.terminal import write_out

_PASSED_ON = ("model", "api_base", "permission_mode", "cwd")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `agent serve`."""
    parser.add_argument(
        "--port", metavar="N", type=int, default=0, help=tr("port to use; default: any free one")
    )
    parser.add_argument("--model", metavar="NAME", help=tr("model to use, by its LiteLLM name"))
    parser.add_argument("--api-base", metavar="URL", help=tr("address of the model server"))
    parser.add_argument(
        "--permission-mode", metavar="MODE", help=tr("what may happen without asking")
    )
    parser.add_argument("--cwd", metavar="DIR", help=tr("work in this directory"))
    parser.add_argument("--trust", action="store_true", help=tr("trust this folder for this run"))


def run(options: argparse.Namespace) -> int:
    """Tell the address, and serve until Ctrl+C."""
    statics = _statics()
    _check_settings(options)
    from agent_cli.frontends.web.server import WebServer, serve  # noqa: PLC0415 (needs the extra)

    port = options.port or _free_port()
    server = WebServer(_command(options), os.environ, statics, port)
    opening = tr("Open {address}", address=server.guard.address)
    warning = tr("Anyone with this address can use the agent as you. Press Ctrl+C to stop.")
    write_out(f"{opening}\n{warning}\n")
    sys.stdout.flush()
    try:
        asyncio.run(serve(server, port))
    except OSError as error:
        why = error.strerror
        raise UserError(tr("Can't use port {port}: {reason}.", port=port, reason=why)) from error
    return ExitCode.DONE


def _statics() -> Path:
    """The scripts and fonts of the page; raises UserError without the extra `web`."""
    found = find_spec("textual_serve")
    if found is None or found.origin is None or find_spec("aiohttp") is None:
        hint = tr('Install the extra: pip install "agent-cli[web]"')
        raise UserError(tr("Serving needs the package textual-serve."), hint=hint)
    return Path(found.origin).parent / "static"


def _check_settings(options: argparse.Namespace) -> None:
    """Report here what would keep every page from starting."""
    given = {"model": options.model} if options.model else {}
    cwd = Path(options.cwd or ".").resolve()
    if not cwd.is_dir():
        raise UserError(tr("{path} is not a directory.", path=cwd))
    load_settings(LaunchOptions(cwd=cwd, settings=given), os.environ)


def _command(options: argparse.Namespace) -> list[str]:
    """The command line of the app behind a page; the folder's own `agent_cli` is not it."""
    argv = [sys.executable, "-P", "-m", "agent_cli"]
    for name in _PASSED_ON:
        if (value := getattr(options, name)) is not None:
            argv += [f"--{name.replace('_', '-')}", value]
    return [*argv, "--trust"] if options.trust else argv


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
