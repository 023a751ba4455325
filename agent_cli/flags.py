"""The flags of the command line, and the wishes they stand for."""

import argparse
import os

TYPE_CHECKING = False  # importing typing for it would cost more than all of this module
if TYPE_CHECKING:
    from typing import Any

    from agent_cli.wishes import Resume, Wishes

MODES = ("default", "accept-edits", "plan", "auto", "yolo")
SUBCOMMANDS = {
    "audit": "show what was run, and by whose permission",
    "checkpoints": "show what is kept for undo, and let it go",
    "check": "explain what would be decided about a command",
    "mcp": "list, add, remove and test MCP servers",
    "new": "write an example of a tool of your own, with its test",
    "plugins": "list tools and commands of your own, switch them on and off",
    "completions": "write what bash, zsh or fish needs to complete this command line",
    "doctor": "look at what the program depends on, and say what to do",
    "serve": "the full-screen app in a browser on this machine",
    "sessions": "list, show, search, export and delete sessions",
    "setup": "choose a model and give its key",
    "stats": "count calls, tokens and dollars by tool, model and day",
    "trust": "show what trusting a folder enables, and trust it",
}
"""Each is a module in subcommands/ with `add_arguments` and `run`."""
ACP = "serve an editor over the Agent Client Protocol"
CONFIG = "show every setting and where it came from"


class _Formatter(argparse.HelpFormatter):
    """Measures the terminal itself: argparse would load a dozen modules for it."""

    def __init__(self, prog: str) -> None:
        try:
            columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
        except (OSError, ValueError):
            columns = 80
        super().__init__(prog, width=max(40, min(columns, 100) - 2))


def parser(arguments: "list[str] | None" = None) -> argparse.ArgumentParser:
    """All flags and commands; of the sub-commands, only one that is used is loaded."""
    top = argparse.ArgumentParser(
        prog="agent",
        allow_abbrev=False,  # --mode plan must not be the model "plan"
        usage="agent [OPTION ...] [COMMAND ...]",
        formatter_class=_Formatter,
        description="A coding agent in your terminal. It shows every call and asks before "
        "anything dangerous.",
        epilog="Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 stopped by a limit, "
        "4 a permission was needed that nobody could give, 75 try again later, 130 interrupted.",
    )
    top.add_argument("-V", "--version", action="store_true", help="show the version and exit")
    top.add_argument(
        "-p", "--prompt", metavar="PROMPT", nargs="?", const="-",
        help="answer one prompt and exit; - reads it from standard input",
    )  # fmt: skip
    _add_commands(top, arguments or [])
    screen = top.add_argument_group("screen")
    screen.add_argument(
        "--inline", action="store_true", help="in the terminal's scrollback, not on a full screen"
    )
    screen.add_argument(
        "--screen-reader", action="store_true",
        help="plain lines of text, nothing moves, answers by number",
    )  # fmt: skip
    _add_resuming(top)
    _add_settings(top)
    output = top.add_argument_group("output")
    output.add_argument(
        "--output-format", choices=("text", "json", "stream-json"), default="text",
        help="the answer, one JSON object, or one event per line",
    )  # fmt: skip
    output.add_argument(
        "--input-format", choices=("text", "stream-json"), default="text",
        help="stream-json: prompts, replies and interrupts as JSON lines on standard input",
    )  # fmt: skip
    output.add_argument(
        "--json-schema", metavar="FILE", help="the final answer must satisfy this JSON Schema"
    )
    return top


def _add_commands(top: argparse.ArgumentParser, arguments: "list[str]") -> None:
    commands = top.add_subparsers(title="commands", dest="command", metavar="COMMAND", prog="agent")
    for name, words in sorted({"acp": ACP, "config": CONFIG, **SUBCOMMANDS}.items()):
        added = commands.add_parser(
            name, help=words, formatter_class=_Formatter, allow_abbrev=False
        )
        if name in ("acp", "config"):
            _add_settings(added)
        elif name in arguments:
            added.set_defaults(whole_parser=lambda: parser(list(SUBCOMMANDS)))
            subcommand(name).add_arguments(added)


def subcommand(name: str) -> "Any":
    """The module of a sub-command."""
    import importlib

    return importlib.import_module(f"agent_cli.subcommands.{name}")


def _add_resuming(top: argparse.ArgumentParser) -> None:
    group = top.add_argument_group("sessions")
    group.add_argument(
        "-c", "--continue", dest="continued", action="store_true",
        help="go on with the last session of this directory",
    )  # fmt: skip
    group.add_argument(
        "-r", "--resume", metavar="ID", nargs="?", const="",
        help="go on with the session of this id, or in which these words were said",
    )  # fmt: skip
    group.add_argument("--fork", action="store_true", help="go on in a copy of the session")


def _add_settings(target: argparse.ArgumentParser) -> None:
    model = target.add_argument_group("model")
    model.add_argument("--model", metavar="NAME", help="the model, as LiteLLM names it")
    model.add_argument("--api-base", metavar="URL", help="where the model is served")
    model.add_argument("--system-prompt-file", metavar="FILE", help="instead of our own words")
    model.add_argument("--append-system-prompt", metavar="TEXT", help="added to the system prompt")
    model.add_argument("--profile", metavar="NAME", help="the role to play: tools, words, mode")
    safety = target.add_argument_group("permissions")
    safety.add_argument("--permission-mode", choices=MODES, help="how much happens unasked")
    for effect in ("allow", "ask", "deny"):
        safety.add_argument(
            f"--{effect}", metavar="RULE", action="append", help=f"{effect} calls that match"
        )
    safety.add_argument("--tools", metavar="LIST", help="use only these tools, by comma")
    safety.add_argument("--trust", action="store_true", help="trust this folder for this run")
    safety.add_argument("--cwd", metavar="DIR", help="work in this directory")
    safety.add_argument("--add-dir", metavar="DIR", action="append", help="also allow this one")
    limits = target.add_argument_group("limits")
    limits.add_argument("--max-steps", metavar="N", help="model requests in one turn")
    limits.add_argument("--max-cost", metavar="DOLLARS", help="dollars in one session")


def wishes(options: argparse.Namespace, *, attended: bool) -> "Wishes":
    """What a parsed command line asks for."""
    from pathlib import Path

    from agent_cli.core.errors import UserError
    from agent_cli.wishes import Wishes

    cwd = Path(options.cwd or ".").resolve()
    added = tuple(Path(each).resolve() for each in options.add_dir or ())
    for directory in (cwd, *added):
        if not directory.is_dir():
            raise UserError(f"{directory} is not a directory.")
    system = None
    if options.system_prompt_file:
        try:
            system = Path(options.system_prompt_file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{options.system_prompt_file} cannot be read: {error}.") from error
    return Wishes(
        cwd=cwd,
        added=added,
        trust=options.trust,
        tools=tuple(options.tools.split(",")) if options.tools else None,
        profile=options.profile or "",
        settings=_given_settings(options),
        system_prompt=system,
        appended_prompt=options.append_system_prompt,
        attended=attended,
        resume=_resume(options),
    )


def _resume(options: argparse.Namespace) -> "Resume | None":
    """The session the command line means, if it means one; which is found out later."""
    from agent_cli.core.errors import UserError
    from agent_cli.wishes import Resume

    words = getattr(options, "resume", None)
    if words is None and not getattr(options, "continued", False):
        if getattr(options, "fork", False):
            raise UserError(
                "--fork needs a session.", hint="agent -c --fork, or agent -r ID --fork"
            )
        return None
    return Resume(words or "", ask=words == "", fork=options.fork, stay=options.cwd is not None)


def _given_settings(options: argparse.Namespace) -> "dict[str, Any]":
    """The flags that are settings, nested like the configuration."""
    settings: dict[str, Any] = {
        "model": options.model,
        "api_base": options.api_base,
        "mode": options.permission_mode,
        "permissions": {name: getattr(options, name) for name in ("allow", "ask", "deny")},
        "limits": {"steps": options.max_steps},
        "budget": {"session": options.max_cost},
    }
    return _without_none(settings)


def _without_none(table: "dict[str, Any]") -> "dict[str, Any]":
    kept = {k: _without_none(v) if isinstance(v, dict) else v for k, v in table.items()}
    return {key: value for key, value in kept.items() if value not in (None, {})}
