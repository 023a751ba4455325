"""`agent warm`: shows or stops the process that makes starts quick."""

import argparse

from agent_cli.lib.language import tr
from agent_cli.models.warm_client import stop_warm_process, warm_process_id
from agent_cli.subcommands._printing import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `agent warm`."""
    parser.add_argument(
        "action", nargs="?", choices=("status", "stop"), default="status",
        help=tr("show whether it runs, or stop it; sessions under way keep working"),
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Show or stop."""
    if options.action == "stop" and stop_warm_process():
        said = tr("Stopped.")
    elif pid := warm_process_id():
        said = tr("Warm process {pid} is running.", pid=pid)
    else:
        said = tr("No warm process is running.")
    say(said)
    return 0
