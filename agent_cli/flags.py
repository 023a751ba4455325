"""The flags of the command line, and the launch options they become."""

import argparse
import os

from agent_cli.lib.language import mark, tr

TYPE_CHECKING = False  # importing typing for it would cost more than all of this module
if TYPE_CHECKING:
    from typing import Any

    from agent_cli.launch_options import LaunchOptions, Resume

MODES = ("default", "accept-edits", "plan", "auto", "yolo")
SUBCOMMANDS = {
    "audit": mark("show what ran and who approved it"),
    "checkpoints": mark("list or delete what is kept for undo"),
    "check": mark("explain how a command would be judged"),
    "mcp": mark("list, add, remove and test MCP servers"),
    "new": mark("create an example tool with a test"),
    "plugins": mark("list, enable and disable your own tools and commands"),
    "completions": mark("print a completion script for bash, zsh or fish"),
    "doctor": mark("check that everything works, and suggest fixes"),
    "serve": mark("open the full-screen app in a browser on this machine"),
    "sessions": mark("list, show, search, export and delete sessions"),
    "setup": mark("choose a model and enter its API key"),
    "stats": mark("show calls, tokens and cost by tool, model and day"),
    "warm": mark("show or stop the process that makes starts quick"),
    "trust": mark("show what trusting a folder enables, then trust it"),
}
"""Each is a module in subcommands/ with `add_arguments` and `run`."""
ACP = mark("serve an editor over the Agent Client Protocol")
CONFIG = mark("show every setting and where it comes from")
RULES = {
    "allow": mark("allow matching calls without asking"),
    "ask": mark("ask before matching calls"),
    "deny": mark("block matching calls"),
}
ARGPARSE = (
    mark("usage: "),
    mark("positional arguments"),
    mark("options"),
    mark("%(heading)s:"),
    mark("show this help message and exit"),
    mark("%(prog)s: error: %(message)s\n"),
    mark("argument %(argument_name)s: %(message)s"),
    mark("expected one argument"),
    mark("expected at most one argument"),
    mark("expected at least one argument"),
    mark("invalid %(type)s value: %(value)r"),
    mark("invalid choice: %(value)r (choose from %(choices)s)"),
    mark("invalid choice: %(value)r, maybe you meant %(closest)r? (choose from %(choices)s)"),
    mark("unknown parser %(parser_name)r (choices: %(choices)s)"),
    mark("unrecognized arguments: %s"),
    mark("the following arguments are required: %s"),
    mark("one of the arguments %s is required"),
    mark("not allowed with argument %s"),
    mark("ignored explicit argument %r"),
    mark("ambiguous option: %(option)s could match %(matches)s"),
    mark("unexpected option string: %s"),
)
"""What argparse says itself, from Python 3.11 to 3.14; a later one's new words stay English."""


class _Formatter(argparse.HelpFormatter):
    """Measures the terminal itself: argparse would load a dozen modules for it."""

    def __init__(self, prog: str) -> None:
        try:
            columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
        except (OSError, ValueError):
            columns = 80
        super().__init__(prog, width=max(40, min(columns, 100) - 2))

    def _format_usage(self, usage: "Any", actions: "Any", groups: "Any", prefix: "Any") -> str:
        """Lines after the first begin below the program's name, however wide the prefix is."""
        said = tr("usage: ") if prefix is None else prefix
        if said.isascii():
            return super()._format_usage(usage, actions, groups, said)
        from agent_cli.lib.cells import width_of

        room = "-" * width_of(said)
        return super()._format_usage(usage, actions, groups, room).replace(room, said, 1)

    def _split_lines(self, text: str, width: int) -> list[str]:
        if text.isascii():
            return super()._split_lines(text, width)
        from agent_cli.lib.cells import wrap

        return wrap(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in self._split_lines(text, width))


class _Parser(argparse.ArgumentParser):
    """One whose parts, at any depth, are laid out alike."""

    def __init__(self, **given: "Any") -> None:
        super().__init__(**{"formatter_class": _Formatter, **given})


def parser(arguments: "list[str] | None" = None) -> argparse.ArgumentParser:
    """All flags and commands; of the sub-commands, only one that is used is loaded."""
    # argparse reads its words from this global. The documented way, gettext.textdomain, follows
    # the locale and not the language of the settings.
    argparse._ = lambda text: text and tr(text)  # type: ignore[attr-defined]
    top = _Parser(
        prog="agent",
        allow_abbrev=False,  # --mode plan must not be the model "plan"
        usage="agent [OPTION ...] [COMMAND ...]",
        description=tr(
            "A coding agent in your terminal. It shows every tool call and asks before "
            "anything dangerous."
        ),
        epilog=tr(
            "Exit codes: 0 success, 1 failure, 2 usage or configuration error, 3 limit reached, "
            "4 approval needed but nobody to ask, 75 temporary failure, 130 interrupted."
        ),
    )
    top.add_argument("-V", "--version", action="store_true", help=tr("show the version and exit"))
    top.add_argument(
        "-p", "--prompt", metavar="PROMPT", nargs="?", const="-",
        help=tr("answer one prompt and exit; - reads it from stdin"),
    )  # fmt: skip
    _add_commands(top, arguments or [])
    screen = top.add_argument_group(tr("screen"))
    inline = tr("chat in the terminal's scrollback instead of full screen")
    screen.add_argument("--inline", action="store_true", help=inline)
    screen.add_argument(
        "--screen-reader", action="store_true",
        help=tr("plain text only: nothing moves, choices are numbered"),
    )  # fmt: skip
    _add_resuming(top)
    _add_settings(top)
    output = top.add_argument_group(tr("output"))
    output.add_argument(
        "--output-format", choices=("text", "json", "stream-json"), default="text",
        help=tr("print the answer, one JSON object, or one event per line"),
    )  # fmt: skip
    output.add_argument(
        "--input-format", choices=("text", "stream-json"), default="text",
        help=tr("stream-json: read prompts, replies and interrupts as JSON lines from stdin"),
    )  # fmt: skip
    output.add_argument(
        "--json-schema", metavar="FILE", help=tr("make the final answer match this JSON Schema")
    )
    return top


def _add_commands(top: argparse.ArgumentParser, arguments: "list[str]") -> None:
    commands = top.add_subparsers(
        title=tr("commands"), dest="command", metavar="COMMAND", prog="agent"
    )
    for name, words in sorted({"acp": ACP, "config": CONFIG, **SUBCOMMANDS}.items()):
        added = commands.add_parser(name, help=tr(words), allow_abbrev=False)
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
    group = top.add_argument_group(tr("sessions"))
    group.add_argument(
        "-c", "--continue", dest="continued", action="store_true",
        help=tr("resume the last session in this directory"),
    )  # fmt: skip
    group.add_argument(
        "-r", "--resume", metavar="ID", nargs="?", const="",
        help=tr("resume a session by id, or by words that occur in it"),
    )  # fmt: skip
    group.add_argument(
        "--fork", action="store_true", help=tr("resume a copy and leave the original as it is")
    )


def _add_settings(target: argparse.ArgumentParser) -> None:
    model = target.add_argument_group(tr("model"))
    model.add_argument("--model", metavar="NAME", help=tr("model to use, by its LiteLLM name"))
    model.add_argument("--api-base", metavar="URL", help=tr("address of the model server"))
    model.add_argument(
        "--system-prompt-file", metavar="FILE", help=tr("use this file as the system prompt")
    )
    model.add_argument(
        "--append-system-prompt", metavar="TEXT", help=tr("add this to the system prompt")
    )
    model.add_argument(
        "--profile", metavar="NAME", help=tr("use a profile: its tools, prompt and mode")
    )
    safety = target.add_argument_group(tr("permissions"))
    safety.add_argument(
        "--permission-mode", choices=MODES, help=tr("what may happen without asking")
    )
    for effect, told in RULES.items():
        safety.add_argument(f"--{effect}", metavar="RULE", action="append", help=tr(told))
    safety.add_argument(
        "--tools", metavar="LIST", help=tr("use only these tools, separated by commas")
    )
    safety.add_argument("--trust", action="store_true", help=tr("trust this folder for this run"))
    safety.add_argument("--cwd", metavar="DIR", help=tr("work in this directory"))
    safety.add_argument(
        "--add-dir", metavar="DIR", action="append", help=tr("allow another directory")
    )
    limits = target.add_argument_group(tr("limits"))
    limits.add_argument("--max-steps", metavar="N", help=tr("maximum model requests per turn"))
    limits.add_argument(
        "--max-cost", metavar="DOLLARS", help=tr("maximum dollars to spend per session")
    )


def wishes(options: argparse.Namespace, *, attended: bool) -> "LaunchOptions":
    """The options of a parsed command line."""
    from pathlib import Path

    from agent_cli.core.errors import UserError
    from agent_cli.launch_options import LaunchOptions

    cwd = Path(options.cwd or ".").resolve()
    added = tuple(Path(each).resolve() for each in options.add_dir or ())
    for directory in (cwd, *added):
        if not directory.is_dir():
            raise UserError(tr("{path} is not a directory.", path=directory))
    system = None
    if options.system_prompt_file:
        try:
            system = Path(options.system_prompt_file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            path = options.system_prompt_file
            raise UserError(tr("Can't read {path}: {reason}.", path=path, reason=error)) from error
    return LaunchOptions(
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
    """The session to resume, if any; it is looked up later."""
    from agent_cli.core.errors import UserError
    from agent_cli.launch_options import Resume

    words = getattr(options, "resume", None)
    if words is None and not getattr(options, "continued", False):
        if getattr(options, "fork", False):
            hint = tr("agent -c --fork, or agent -r ID --fork")
            raise UserError(tr("--fork needs a session to copy."), hint=hint)
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
