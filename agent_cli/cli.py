"""The command line: flags become launch options, errors become exit codes.

Nothing heavy is imported here: `agent --version` and `--help` answer at once, and without a screen
the model's worker process starts before the rest of the program is loaded.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from agent_cli.models.warm_client import Worker


def main() -> None:
    """The entry point of `agent`."""
    arguments = sys.argv[1:]
    if "--version" in arguments or "-V" in arguments:
        from agent_cli import __version__

        sys.stdout.write(f"agent {__version__}\n")
        return
    _end_at_once_on_interrupt()
    try:
        code = run(arguments)
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that closing stdout does not fail again
        code = 1
    sys.exit(code)


def _end_at_once_on_interrupt() -> None:
    """Until `_loaded`: raised in the middle of an import, KeyboardInterrupt can get lost."""
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not one of `nohup`
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))


def _loaded() -> None:
    """From now on there is something to clean up after an interrupt."""
    import signal

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def run(arguments: list[str]) -> int:
    """Carry out a command line; returns the exit code."""
    from agent_cli.config.directories import language_setting
    from agent_cli.lib import language
    from agent_cli.lib.search_path import absolute_path

    # Whatever we start from now on is looked up by this, whoever starts it.
    os.environ["PATH"] = absolute_path(os.environ.get("PATH", ""))

    language.use(language.choose_language(language_setting(os.environ), os.environ))
    from agent_cli.flags import SUBCOMMANDS, parser, subcommand

    options = parser(arguments).parse_args(arguments)
    if not options.command and options.output_format != "text":
        language.use(language.SOURCE)  # output for programs is the same everywhere
    interactive = not options.command and _is_interactive(options)
    inline = not options.command and _wants_inline(options, interactive=interactive)
    interactive = interactive and not inline
    worker = None if options.command or interactive else _start_worker(options)
    from agent_cli.core.errors import UserError

    try:
        if options.command == "config":
            return _show_config(options)
        if options.command == "acp":
            return _run_editor(options)
        if options.command in SUBCOMMANDS:
            _print_anything()
            command = subcommand(options.command)
            _loaded()
            code: int = command.run(options)
            return code
        if inline:
            return _run_inline(options, worker)
        if interactive:
            return _run_screen(options)
        return _run_headless(options, worker)
    except UserError as error:
        from agent_cli.safety.terminal import write_err

        write_err(f"agent: {error.message}\n" + (f"{error.hint}\n" if error.hint else ""))
        return error.exit_code
    finally:
        if worker is not None and worker.poll() is None:
            worker.kill()
            worker.wait()


def _start_worker(options: "argparse.Namespace") -> "Worker | None":
    """Start loading LiteLLM now, unless the model is one of our own."""
    model = options.model or os.environ.get("AGENT_MODEL", "")
    from agent_cli.models.providers import is_local

    if is_local(model):
        return None
    from agent_cli.models.worker_process import spawn

    return spawn()


def _is_interactive(options: "argparse.Namespace") -> bool:
    """Whether somebody at a terminal wants to chat."""
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    return _wants_talk(options) and (is_terminal or _is_page())


def _wants_talk(options: "argparse.Namespace") -> bool:
    """Whether this is a chat in text, not a single prompt."""
    return options.prompt is None and options.input_format == options.output_format == "text"


def _is_page() -> bool:
    """Whether the terminal is a page of `agent serve`, at the other end of two pipes."""
    return os.environ.get("TEXTUAL_DRIVER", "").startswith("agent_cli.")


def _wants_inline(options: "argparse.Namespace", *, interactive: bool) -> bool:
    """Whether to chat line by line: on request, through pipes too, or without a usable screen."""
    if options.inline or options.screen_reader:
        return _wants_talk(options)
    if not interactive or _is_page():
        return False
    from agent_cli.config.glance import glance
    from agent_cli.frontends.shared.terminal_facts import moves_cursor

    return glance(os.environ).is_inline or not moves_cursor(os.environ)


def _run_inline(options: "argparse.Namespace", worker: "Worker | None") -> int:
    _print_anything()
    from agent_cli.flags import wishes
    from agent_cli.frontends.repl import start

    launch_options = wishes(options, attended=sys.stdin.isatty())
    _loaded()
    return start.run(launch_options, worker, is_read_aloud=options.screen_reader)


def _run_screen(options: "argparse.Namespace") -> int:
    """The model's worker starts when the prompt is on the screen, which it would only slow down."""
    import gc

    gc.disable()  # until all is loaded: there is no garbage yet
    from agent_cli.flags import wishes
    from agent_cli.frontends.tui import start

    _loaded()
    return start.run(wishes(options, attended=True))


def _run_headless(options: "argparse.Namespace", worker: "Worker | None") -> int:
    _print_anything()
    streamed = options.input_format == "stream-json"
    import asyncio
    from pathlib import Path

    from agent_cli.flags import wishes
    from agent_cli.folder import load_all_settings
    from agent_cli.frontends.headless import start as headless
    from agent_cli.runtime import find_session, open_session, tidy
    from agent_cli.subcommands._printing import warn

    schema = None
    if options.json_schema:
        from agent_cli.frontends.headless.structured import read_schema

        schema = read_schema(Path(options.json_schema))
    prompt = None if streamed else headless.read_prompt(options.prompt)
    launch_options = find_session(wishes(options, attended=streamed), os.environ)
    loaded = load_all_settings(launch_options, os.environ)
    warn(*loaded.warnings)
    how = headless.Options(options.output_format, schema)

    async def play() -> int:
        session = open_session(launch_options, loaded.settings, worker=worker)
        try:
            if session.mode == "auto" or loaded.settings.sandbox in ("bwrap", "landlock"):
                await session.prepare()
            return await headless.run(session, prompt, how)
        finally:
            await session.close()
            headless.tell_how_to_resume(session)
            tidy(loaded.settings, os.environ)

    _loaded()
    return asyncio.run(play())


def _run_editor(options: "argparse.Namespace") -> int:
    from agent_cli.flags import wishes
    from agent_cli.frontends.acp import start

    _loaded()
    return start.run(wishes(options, attended=True))


def _print_anything() -> None:
    """Don't fail on characters that the terminal can't show."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def _show_config(options: "argparse.Namespace") -> int:
    from agent_cli.config.example import listing
    from agent_cli.config.layers import LoadedSettings
    from agent_cli.config.schema import Settings
    from agent_cli.config.user_directories import Directories
    from agent_cli.core.errors import UserError
    from agent_cli.flags import wishes
    from agent_cli.folder import load_settings
    from agent_cli.lib.language import tr
    from agent_cli.safety.terminal import write_out
    from agent_cli.subcommands._printing import warn

    try:
        loaded = load_settings(wishes(options, attended=False), os.environ)
    except UserError:  # what helps is the list of what there is
        write_out(f"{listing(LoadedSettings(Settings(), {}))}\n")
        raise
    place = tr("# user file: {path}", path=Directories.of(os.environ).config_file)
    write_out(f"{place}\n{listing(loaded)}\n")
    warn(*loaded.warnings)
    return 0
