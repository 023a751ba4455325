"""Says what in a shell's state can give a command another meaning than it has in a fresh shell."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from agent_cli.safety.environment import is_locale, is_plain_locale
from agent_cli.safety.paths import Workspace
from agent_cli.safety.tokens import words
from agent_cli.tools._shell.shell_state import ShellState, Variable

_MAX_NAMED = 5

# Variables that decide which program runs, what it loads, or where it looks for its settings.
_STEERING = re.compile(
    r"PATH|HOME|IFS|CDPATH|ENV|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|BASH_.*|PS[0-4]|GLOBIGNORE|GLOBSORT"
    r"|EXECIGNORE|POSIXLY_CORRECT|TIMEFORMAT|FPATH|TMPDIR|TERM|TERMCAP|TERMINFO.*|SHELL|EDITOR|VISUAL"
    r"|(?:LD|DYLD|PYTHON|GIT|NODE|NPM|RUBY|PERL|BUN|DENO|LUA|JAVA_TOOL|JDK_JAVA|MAVEN|GRADLE|SSH|XDG"
    r"|GPG|GNUPG|DOCKER|SYSTEMD|MALLOC|GLIBC|GCONV|NLS|LOC|RSYNC|CVS|SVN|HG|RIPGREP|FZF|BAT|DELTA|JQ"
    r"|AWK|SED|GREP|FIND|MAN|LESS|GZIP|XZ|ZSTD|UNZIP|ZIP|TAR|BZIP|PHP|RUST|RUSTUP|RUSTC|CARGO|JAVA"
    r"|OPENSSL|GCC|CMAKE|MAKE|PIP|UV|ESLINT|TSC|PRETTIER|FFMPEG|SQLITE|PSQL|ZDOT|MAGIC|COREPACK)_?.*"
    r"|GO[A-Z]+|CLASSPATH|COMPILER_PATH|[A-Z]+RC"
    r"|.*(?:PAGER|EDITOR|BROWSER|OPTIONS|OPTS|OPT|FLAGS|_COMMAND|_RSH|_CONFIG|CONFIG_PATH|_HOME"
    r"|CONFIG_FILE|CONFIG_DIR|PRELOAD|LIBRARY_PATH|PROXY|proxy|HOSTALIASES)"
)
# More that programs heed: what a confined command exports under such a name stays confined.
_HEEDED = re.compile(
    r"(?:AWS|AZURE|TF|TERRAFORM|VAULT|HELM|KUBE|ANSIBLE|CURL|WGET|COMPOSE|BUNDLE|GEM|CI|GH|GITHUB"
    r"|GITLAB|PG|MYSQL|REDIS|MONGO|OTEL|SENTRY|POETRY|PDM|CONDA|VIRTUAL|WEB|PLAYWRIGHT|PUPPETEER"
    r"|ELECTRON|DJANGO|FLASK|RAILS|RACK|LARAVEL|APP|SPRING|JEST|VITEST|PYTEST|TOX|NOX)_?.*"
    r"|.*(?:CONFIG|SETTING|FILE|DIR|PATH|URL|URI|HOST|SOCKET|COMMAND|SERVER|PLUGIN|TOKEN)S?"
    r"|(?:.*_)?(?:ROOT|PORT|ENDPOINT|ADDR|CMD|PROG|PROGRAM|BIN|EXEC|SHELL|WRAPPER|HOOK|MODULE|LIB"
    r"|INIT|STARTUP|SCRIPT|ARG|CC|CXX|LD|LAUNCHER|HELPER|REGISTRY|INDEX|MIRROR|KEY|PROFILE|ENV)S?",
    re.IGNORECASE,
)
_HARMLESS = words("""
    NODE_ENV PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONHASHSEED SSH_CONNECTION PS1
""")
# Bash calls it by itself, for names that it does not find.
_CALLED_BY_BASH = "command_not_found_handle"
# Attributes by which a variable holds something else than what is assigned to it.
_CHANGES_VALUES = frozenset("nilcu")
# Arithmetic and some expansions evaluate what a variable holds.
_CODE = re.compile(r"`|\$[({\[]|[<>]\(")


def altered_by(state: ShellState, *, path_is_known: bool = False) -> tuple[str, ...]:
    """Reasons in words; empty means that every command means what it means in a fresh shell.

    But for two kinds: those that name one of `own_functions`, and if the path is known those that
    name a program in one of `added_programs`.
    """
    reasons = list(_name_all("function", state.functions.keys() - own_functions(state)))
    reasons += _name_all("alias", state.aliases, "aliases")
    known = {"PATH"} if path_is_known else set()
    set_ = (name for name in state.variables if _steers(name) and name not in known)
    reasons += [f"the variable {name} was set" for name in set_]
    reasons += [
        f"the variable {name} sets another encoding"
        for name, variable in state.variables.items()
        if is_locale(name) and not is_plain_locale(name, str(variable.value))
    ]
    reasons += [
        f"the variable {name} changes what it is given"
        for name, variable in state.variables.items()
        if set(variable.attributes) & _CHANGES_VALUES
    ]
    reasons += [f"the variable {name} was unset" for name in sorted(state.unset) if _steers(name)]
    reasons += [
        f"the variable {name} holds shell code"
        for name, variable in state.variables.items()
        if not _steers(name) and _holds_code(variable)
    ]
    return tuple(reasons)


def without_code(before: ShellState, after: ShellState) -> ShellState:
    """The state `before`, with what is mere data in the state that a confined command left.

    That is its directory, and variables that neither steer programs nor hold anything that a shell
    could evaluate. Functions, aliases and all else stay as they were.
    """
    kept = {name: value for name, value in before.variables.items() if not _is_data(name, value)}
    new = {name: value for name, value in after.variables.items() if _is_data(name, value)}
    unset = {name for name in after.unset if not _steers(name)}
    return replace(
        before,
        directory=after.directory,
        variables={**new, **kept},
        unset=frozenset({name for name in before.unset if _steers(name)} | unset) - kept.keys(),
    )


def _is_data(name: str, variable: Variable) -> bool:
    if _steers(name) or _holds_code(variable):
        return False
    is_exported = variable.attributes == "x"
    return not variable.attributes or (is_exported and _HEEDED.fullmatch(name) is None)


def own_functions(state: ShellState) -> frozenset[str]:
    """Functions that only the shell itself knows, and only by name."""
    return frozenset(state.functions.keys() - state.exported_functions - {_CALLED_BY_BASH})


def added_programs(
    state: ShellState, fresh: Variable | None, workspace: Workspace
) -> tuple[str, ...] | None:
    """The directories of the workspace that stand before a fresh shell's PATH.

    None if anything else about it has changed.
    """
    now = state.variables.get("PATH")
    if now is None:
        return None if "PATH" in state.unset else ()
    if fresh is None or now.attributes != fresh.attributes:
        return None
    if not isinstance(now.value, str) or not isinstance(fresh.value, str):
        return None
    if not now.value.endswith(f":{fresh.value}"):
        return None
    added = tuple(now.value.removesuffix(f":{fresh.value}").split(":"))
    return added if all(_is_project(entry, workspace) for entry in added) else None


def _is_project(entry: str, workspace: Workspace) -> bool:
    return os.path.isabs(entry) and workspace.contains(os.path.realpath(entry))  # noqa: PTH117


def _name_all(one: str, names: Iterable[str], many: str | None = None) -> Iterator[str]:
    listed = sorted(names)
    if len(listed) <= _MAX_NAMED:
        yield from (f"the {one} {name} was defined" for name in listed)
        return
    shown = ", ".join(listed[:_MAX_NAMED])
    yield f"the {many or one + 's'} {shown} and {len(listed) - _MAX_NAMED} more were defined"


def _steers(name: str) -> bool:
    return name not in _HARMLESS and _STEERING.fullmatch(name) is not None


def _holds_code(variable: Variable) -> bool:
    if isinstance(variable.value, str):
        return _CODE.search(variable.value) is not None
    return any(_CODE.search(key) or _CODE.search(text) for key, text in variable.value)
