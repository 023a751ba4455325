"""Says what in a shell's state can give a command another meaning than it has in a fresh shell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agent_cli.safety.tokens import words
from agent_cli.tools._shell.state import ShellState, Variable

_MOST_NAMED = 5

# Variables that decide which program runs, what it loads, or where it looks for its settings.
_STEERING = re.compile(
    r"PATH|HOME|IFS|CDPATH|ENV|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|BASH_.*|PS[0-4]|GLOBIGNORE|GLOBSORT"
    r"|EXECIGNORE|POSIXLY_CORRECT|TIMEFORMAT|FPATH|TMPDIR|TERM|TERMCAP|TERMINFO.*|SHELL|EDITOR|VISUAL"
    r"|(?:LD|DYLD|PYTHON|GIT|NODE|NPM|RUBY|PERL|BUN|DENO|LUA|JAVA_TOOL|JDK_JAVA|MAVEN|GRADLE|SSH|XDG"
    r"|GPG|GNUPG|DOCKER|SYSTEMD|MALLOC|GLIBC|GCONV|NLS|LOC|RSYNC|CVS|SVN|HG|RIPGREP|FZF|BAT|DELTA|JQ"
    r"|AWK|SED|GREP|FIND|MAN|LESS|GZIP|XZ|ZSTD|UNZIP|ZIP|TAR|BZIP)_?.*"
    r"|.*(?:PAGER|EDITOR|BROWSER|OPTIONS|OPTS|OPT|FLAGS|_COMMAND|_RSH|_CONFIG|CONFIG_PATH|_HOME"
    r"|CONFIG_FILE|CONFIG_DIR|PRELOAD|LIBRARY_PATH|PROXY|proxy|HOSTALIASES)"
)
_HARMLESS = words("NODE_ENV PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONHASHSEED SSH_CONNECTION")
# Arithmetic and some expansions evaluate what a variable holds.
_CODE = re.compile(r"`|\$[({\[]|[<>]\(")


def altered_by(state: ShellState) -> tuple[str, ...]:
    """Reasons in words; empty means that every command means what it means in a fresh shell."""
    reasons = list(_named("function", state.functions))
    reasons += _named("alias", state.aliases, "aliases")
    reasons += [f"the variable {name} was set" for name in state.variables if _steers(name)]
    reasons += [f"the variable {name} was unset" for name in sorted(state.unset) if _steers(name)]
    reasons += [
        f"the variable {name} holds shell code"
        for name, variable in state.variables.items()
        if not _steers(name) and _holds_code(variable)
    ]
    return tuple(reasons)


def _named(one: str, names: Iterable[str], many: str | None = None) -> Iterator[str]:
    listed = sorted(names)
    if len(listed) <= _MOST_NAMED:
        yield from (f"the {one} {name} was defined" for name in listed)
        return
    shown = ", ".join(listed[:_MOST_NAMED])
    yield f"the {many or one + 's'} {shown} and {len(listed) - _MOST_NAMED} more were defined"


def _steers(name: str) -> bool:
    return name not in _HARMLESS and _STEERING.fullmatch(name) is not None


def _holds_code(variable: Variable) -> bool:
    if isinstance(variable.value, str):
        return _CODE.search(variable.value) is not None
    return any(_CODE.search(key) or _CODE.search(text) for key, text in variable.value)
