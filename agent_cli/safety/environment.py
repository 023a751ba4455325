"""The environment that commands run in: built from an allow-list, never inherited."""

# Paths are handled as text: pathlib would follow links or drop parts that matter.
# ruff: noqa: PTH100, PTH117

import os
import re
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType

from agent_cli.safety.tokens import looks_secret, words

__all__ = ["child_environment", "looks_secret"]

_NO_VARIABLES: Mapping[str, str] = MappingProxyType({})

_KEPT = words("""
    HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS
    HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
    XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR
""")
_KEPT_LOCALE = re.compile(r"LC_[A-Z]+")
# In other encodings a backslash or a quote can be half of a character, and commands read otherwise.
_PLAIN_LOCALE = re.compile(r"|C|POSIX|(?:C|[a-z]{2,3}(?:_[A-Z]{2})?)\.(?:UTF-8|utf-?8)(?:@[a-z]+)?")
_ENCODING = words("LC_ALL LC_CTYPE LANG")
_UTF8 = re.compile(r".*\.(?:UTF-8|utf-?8)(?:@[a-z]+)?")

# Toolchains lead to programs that get run, so one inside the workspace is not trusted.
_TOOLCHAINS = words("""
    JAVA_HOME GOPATH GOROOT CARGO_HOME RUSTUP_HOME NVM_DIR PYENV_ROOT RBENV_ROOT SDKMAN_DIR
    ANDROID_HOME ANDROID_SDK_ROOT CONDA_PREFIX HOMEBREW_PREFIX UV_CACHE_DIR
""")

# These change what bash makes of the very string that was analysed, so nobody can let them in.
_NEVER = re.compile(
    r"BASH_ENV|ENV|PROMPT_COMMAND|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|BASH_XTRACEFD|PS[0-4]|IFS|CDPATH"
    r"|GLOBIGNORE|EXECIGNORE|POSIXLY_CORRECT|BASH_COMPAT|BASH_LOADABLES_PATH"
)
# These load code into other programs: only a user who writes the exact name gets them.
_LOADERS = re.compile(
    r"(?:LD|DYLD|PYTHON|GIT|NODE|NPM|RUBY|PERL|BUN|DENO|LUA|JAVA_TOOL|JDK_JAVA|MAVEN|GRADLE)_?.*"
    r"|RIPGREP_CONFIG_PATH|LESS.*|.*PAGER|.*EDITOR|.*BROWSER|.*OPTIONS|.*OPTS|.*FLAGS|.*_COMMAND"
)

_FIXED: Mapping[str, str] = MappingProxyType(
    {
        "TERM": "dumb",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": "false",  # `git commit` without a message fails at once instead of waiting
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
    }
)
# Even a read-only git command would run what a repository names in these settings.
_GIT_SETTINGS = (
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("safe.bareRepository", "explicit"),
)
_PLAIN_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


def child_environment(
    base: Mapping[str, str],
    *,
    extra: Mapping[str, str] = _NO_VARIABLES,
    passed: Collection[str] = (),
    workspace: str | None = None,
) -> dict[str, str]:
    """The variables for a child process; its locale is always one of UTF-8.

    `passed` are names the user lets through: an exact name also for a secret, a pattern such as
    `CI_*` only for what looks harmless. `extra` is set last, over everything.
    """
    child = {name: value for name, value in base.items() if _is_kept(name, value, workspace)}
    child |= {name: value for name, value in base.items() if _is_passed(name, value, passed)}
    child["PATH"] = search_path(base.get("PATH", ""), workspace)
    child = _in_utf8(child)
    child |= _FIXED
    child |= _git_settings()
    child |= {name: value for name, value in extra.items() if not _NEVER.fullmatch(name)}
    return child


def is_plain_locale(name: str, value: str) -> bool:
    """Whether a variable of the locale leaves it to UTF-8 or ASCII what a command's bytes mean."""
    if name == "LANGUAGE":
        return re.fullmatch(r"[A-Za-z_:]*", value) is not None
    return _PLAIN_LOCALE.fullmatch(value) is not None


def is_locale(name: str) -> bool:
    """Whether a variable chooses the locale."""
    return name in ("LANG", "LANGUAGE") or _KEPT_LOCALE.fullmatch(name) is not None


def _in_utf8(child: dict[str, str]) -> dict[str, str]:
    """The variables, with a locale in which characters are UTF-8: what is analysed is so read."""
    kept = {n: v for n, v in child.items() if n not in _ENCODING or is_plain_locale(n, v)}
    counts = kept.get("LC_ALL") or kept.get("LC_CTYPE") or kept.get("LANG") or ""
    if _UTF8.fullmatch(counts):
        return kept
    return kept | {"LC_ALL" if kept.get("LC_ALL") else "LC_CTYPE": "C.UTF-8"}


def search_path(path: str, workspace: str | None) -> str:
    """PATH without entries that a repository could put programs into."""
    entries = dict.fromkeys(path.split(os.pathsep))
    trusted = [entry for entry in entries if os.path.isabs(entry) and not _inside(entry, workspace)]
    return os.pathsep.join(trusted) or _PLAIN_PATH


def project_entries(path: str, roots: Collection[str]) -> tuple[str, ...]:
    """The entries of a PATH that lie in one of these directories."""
    entries = dict.fromkeys(path.split(os.pathsep))
    return tuple(e for e in entries if os.path.isabs(e) and any(_inside(e, r) for r in roots))


def _is_kept(name: str, value: str, workspace: str | None) -> bool:
    if name in _TOOLCHAINS:
        return os.path.isabs(value) and not _inside(value, workspace)
    if name not in _KEPT and not _KEPT_LOCALE.fullmatch(name):
        return False
    return not looks_secret(name, value)


def _is_passed(name: str, value: str, passed: Collection[str]) -> bool:
    if _NEVER.fullmatch(name):
        return False
    if name in passed:
        return True
    if _LOADERS.fullmatch(name) or looks_secret(name, value):
        return False
    return any("*" in pattern and fnmatchcase(name, pattern) for pattern in passed)


def _git_settings() -> Iterator[tuple[str, str]]:
    yield "GIT_CONFIG_COUNT", str(len(_GIT_SETTINGS))
    for number, (key, value) in enumerate(_GIT_SETTINGS):
        yield f"GIT_CONFIG_KEY_{number}", key
        yield f"GIT_CONFIG_VALUE_{number}", value


def _inside(path: str, workspace: str | None) -> bool:
    if workspace is None:
        return False
    return any(
        os.path.commonpath([root, place]) == root
        for root, place in (
            (os.path.abspath(workspace), os.path.abspath(path)),
            (os.path.realpath(workspace), os.path.realpath(path)),
        )
    )
