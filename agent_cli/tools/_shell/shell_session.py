"""The session's shell: a fresh bash for each command that begins where the last one ended."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from agent_cli.core.errors import ToolFailure
from agent_cli.core.tool_context import SessionView, ShellInfo
from agent_cli.lib import sweep
from agent_cli.lib.bounded_output import Output
from agent_cli.lib.files import private_directory
from agent_cli.lib.watchdog import Watchdog
from agent_cli.safety.paths import Workspace
from agent_cli.safety.redact import redact_file
from agent_cli.safety.sandbox import ForkServer, Launch, Process, Room, start
from agent_cli.tools._shell.meaning import added_programs, altered_by, own_functions, without_code
from agent_cli.tools._shell.shell_command import ShellCommand
from agent_cli.tools._shell.shell_state import (
    DUMP,
    MAX_DUMP_BYTES,
    ShellState,
    UnreadableState,
    Variable,
    alias_lines,
    function_variables,
    prelude,
    read_state,
    read_variables,
)

# Descriptors of ours that shells get are above those that commands use themselves.
_LOWEST = 110

# The command comes through a descriptor: so it has no limit in length, isn't found by a `pkill -f`
# that looks for its words, and is evaluated exactly as it was analysed. All of this is one line, so
# that it is parsed before the command can define an alias, and that lines are counted from one.
_DRIVER = (
    'read -rd "" -u {given}; eval "$REPLY"; '
    f'eval "$REPLY"; {{{{ {DUMP} "$?"; }}}} >/dev/null 2>&1; exit'
)

_OPENING = f"""\
{DUMP}() {{{{
set +euxvC +o posix
trap - DEBUG ERR RETURN
{{{{ builtin printf '%s\\0' "$PWD"; builtin declare -p; builtin printf '\\0'; builtin alias -p
builtin printf '\\0'; builtin declare -F; builtin printf '\\0'; builtin declare -f
builtin printf '\\0done\\0'; }}}} >&{sweep.DESCRIPTOR}
{DUMP}() {{{{ return "$1"; }}}}
return "$1"
}}}}
exec {sweep.DESCRIPTOR}>&{{dump}} {{dump}}>&-
trap '\\{DUMP} "$?" >/dev/null 2>&1' EXIT
"""
_MIDDLE = """
read -rd "" -u {given}
exec {given}<&-
shopt -s expand_aliases
"""
_EDITOR = 'echo "There is no editor here: give the text as an argument (-m, -F)." >&2; false'
_UNATTENDED = {
    "EDITOR": "false",
    "VISUAL": "false",
    "GIT_EDITOR": _EDITOR,
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS_REQUIRE": "never",
    "SYSTEMD_PAGER": "cat",
    "MANPAGER": "cat",
    "DEBIAN_FRONTEND": "noninteractive",
    # Without a terminal vim would wait on its output for keys. What -c and -s do is done by then.
    "VIMINIT": "autocmd VimEnter * cquit",
}


def shown_chars(view: SessionView) -> int:
    """Of long output the model gets this much, beginning and end: the middle seldom matters."""
    return view.result_chars * 2 // 3


class ShellSession:
    """The one shell of a session.

    It has two states. What confined commands define counts for confined commands only: nobody has
    agreed to it, so it must not act where nothing confines it. Of theirs the others get the
    directory, and variables that are mere data.
    """

    def __init__(self) -> None:
        self._state = ShellState()
        """What commands find that somebody agreed to."""
        self._confined = ShellState()
        """What confined commands find."""
        self._server = ForkServer()
        self._fresh: Mapping[str, Variable] | None = None
        self._watchdog: Watchdog | None = None
        self._temporary: Path | None = None
        self._agreed: frozenset[str] = frozenset()
        """Directories of programs that a command added which somebody had agreed to."""

    @property
    def directory(self) -> str | None:
        """Where the next command starts; None: in the workspace."""
        return self._state.directory

    async def start(
        self,
        text: str,
        view: SessionView,
        *,
        directory: str | None = None,
        watcher: Callable[[bytes], None] | None = None,
        room: Room | None = None,
    ) -> ShellCommand:
        """Start a command, in the shell's directory unless another is given for this once.

        `room` is the sandbox that it runs in, if any.
        """
        if self._fresh is None:
            self._fresh = await self._look_at_a_fresh_shell(view)
        state = self._confined if room else self._state
        try:
            return self._launch(text, view, state, directory=directory, watcher=watcher, room=room)
        except OSError as error:
            # What cannot be started must not stay so for good.
            self._state = self._confined = ShellState(directory=self._state.directory)
            raise ToolFailure(
                f"The shell could not be started: {error.strerror}. The next command "
                "gets a fresh shell: variables and functions are lost."
            ) from error

    def adopt(
        self,
        command: ShellCommand,
        standing: ShellInfo,
        workspace: Workspace,
        *,
        with_directory: bool,
        confined: bool = False,
    ) -> str:
        """Go on from where a command ended; returns what to tell about it, if anything.

        `confined` if nobody agreed to it, because it could do no harm in the sandbox.
        """
        before = self._confined if confined else self._state
        if command.exit_code is None or command.exit_code < 0:
            return ""  # it was killed: the session stays as it was
        try:
            after = read_state(_read_dump(command.dump), self._fresh or {})
        except UnreadableState:
            return ""  # it replaced its shell, or closed our descriptor
        if not with_directory or not _is_usable(after.directory):
            after = replace(after, directory=before.directory)
        self._confined = after
        if confined:
            self._state = without_code(self._state, after)
        else:
            self._state = after
            added = self._added_folders(after, workspace) or ()
            self._agreed |= set(added).difference(_search_path(before))
        self._tell(standing, workspace)
        return "; ".join(item for item in after.dropped if item not in before.dropped)

    def reset(self, standing: ShellInfo, workspace: Workspace) -> None:
        """Go on with a fresh shell in the workspace."""
        self._state = self._confined = ShellState()
        self._tell(standing, workspace)

    def leave_missing_directory(self, standing: ShellInfo, workspace: Workspace) -> str | None:
        """If the shell's directory is gone, return to the workspace; says which it was."""
        gone = self._state.directory
        if gone is None or _is_usable(gone):
            return None
        self._state = replace(self._state, directory=None)
        self._confined = replace(self._confined, directory=None)
        self._tell(standing, workspace)
        return gone

    async def close(self) -> None:
        """End everything that any command left running."""
        self._server.close()
        if self._watchdog is not None:
            await asyncio.to_thread(self._watchdog.close)
            self._watchdog = None
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
            self._temporary = None

    def _launch(
        self,
        text: str,
        view: SessionView,
        state: ShellState,
        *,
        directory: str | None = None,
        watcher: Callable[[bytes], None] | None = None,
        room: Room | None = None,
    ) -> ShellCommand:
        self._watchdog = self._watchdog or Watchdog(view.id)
        mark = self._watchdog.new_mark()
        place = directory or state.directory or str(view.workspace.root)
        dump, given = _marked_file(mark), _marked_file(mark)
        try:
            _fill(given, f"{_orders(state, given, dump)}\0{text}\0")
            end = shown_chars(view) // 2
            clean = partial(redact_file, redact=view.redact)
            output = Output(lambda: self._file_for(view, mark), head=end, tail=end, clean=clean)
            command = ShellCommand(text, output, mark, dump, watcher)
            argv = [_bash(view), "--noprofile", "--norc", "-c", _DRIVER.format(given=given), "bash"]
            environment = _environment(view, state, mark, place)

            def launch(output: int) -> Process:
                how = Launch(argv, place, environment, output, (given, dump))
                return room.start(how, self._server) if room else start(how)

            command.launch(launch)
        except BaseException:
            os.close(dump)
            raise
        finally:
            os.close(given)
        return command

    async def _look_at_a_fresh_shell(self, view: SessionView) -> dict[str, Variable]:
        """The variables that a shell has before any command changed them."""
        command = self._launch(":", view, ShellState(), directory="/")
        try:
            if not await command.wait(10):
                await command.end()
            return read_variables(_read_dump(command.dump))
        except UnreadableState as error:
            said = command.output.whole().text.strip() or "no output"
            raise ToolFailure(f"bash does not work here: {said}.") from error
        finally:
            command.close()

    def _file_for(self, view: SessionView, mark: str) -> Path:
        """Where the whole of a long output goes: private, and readable for the model."""
        if view.workspace.readable:
            place = private_directory(Path(view.workspace.readable[0]))
        else:
            if self._temporary is None:
                self._temporary = Path(tempfile.mkdtemp(prefix="agent-output-"))
            place = self._temporary
        return place / f"bash-{mark.strip('.')}.txt"

    def _added_folders(self, state: ShellState, workspace: Workspace) -> tuple[str, ...] | None:
        return added_programs(state, (self._fresh or {}).get("PATH"), workspace)

    def _tell(self, standing: ShellInfo, workspace: Workspace) -> None:
        """Let permission decisions know where the shell stands, confined or not."""
        standing.directory = self._state.directory
        standing.altered_by, standing.programs = (), ()
        standing.functions = frozenset()
        for state in (self._state, self._confined):
            added = self._added_folders(state, workspace)
            is_known = added is not None and self._agreed.issuperset(added)
            reasons = altered_by(state, path_is_known=is_known)
            standing.altered_by = tuple(dict.fromkeys((*standing.altered_by, *reasons)))
            standing.functions |= own_functions(state)
            programs = (added or ()) if is_known else ()
            standing.programs = tuple(dict.fromkeys((*standing.programs, *programs)))


def _search_path(state: ShellState) -> list[str]:
    path = state.variables.get("PATH")
    return path.value.split(":") if path and isinstance(path.value, str) else []


def _is_usable(directory: str | None) -> bool:
    return directory is not None and Path(directory).is_dir() and os.access(directory, os.X_OK)


def _orders(state: ShellState, given: int, dump: int) -> str:
    """What the shell does before and after the command."""
    opening, middle = _OPENING.format(dump=dump), _MIDDLE.format(given=given)
    return f"{opening}{prelude(state)}{middle}{alias_lines(state)}"


def _environment(view: SessionView, state: ShellState, mark: str, place: str) -> dict[str, str]:
    ours = {"PWD": place, sweep.VARIABLE: mark}
    return {**view.environment, **_UNATTENDED, **function_variables(state), **ours}


def _bash(view: SessionView) -> str:
    found = shutil.which("bash", path=view.environment.get("PATH")) or shutil.which("/bin/bash")
    if found is None:
        raise ToolFailure("bash was not found, so commands cannot be run.")
    return found


def _marked_file(mark: str) -> int:
    """A nameless file that only its inheritors can reach, at a high descriptor."""
    if hasattr(os, "memfd_create"):
        low = os.memfd_create(f"agent-{mark}", os.MFD_CLOEXEC)
    else:
        low, name = tempfile.mkstemp()
        Path(name).unlink()
    try:
        return fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, _LOWEST)
    finally:
        os.close(low)


def _fill(descriptor: int, text: str) -> None:
    rest = text.encode("utf-8", "surrogateescape")
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.lseek(descriptor, 0, os.SEEK_SET)


def _read_dump(descriptor: int) -> bytes:
    return os.pread(descriptor, MAX_DUMP_BYTES, 0)
