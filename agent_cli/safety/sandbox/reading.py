"""What a command that is proven to change nothing may read: the workspace, and what programs need.

The proof says that it reads nothing else without a question, so nothing else is there for it.
"""

# Paths are handled as text and as the kernel sees them: pathlib would drop or merge parts.
# ruff: noqa: PTH112, PTH113, PTH114, PTH115, PTH117, PTH118, PTH119, PTH120, PTH123

import os
import sys
from collections.abc import Iterable, Iterator, Mapping

from agent_cli.safety.paths import Workspace, contains
from agent_cli.safety.sandbox.confinement import Confinement, Profile, known_secrets
from agent_cli.safety.tokens import words

# Where systems keep programs, their libraries and their settings.
_SYSTEM = (
    "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/etc", "/opt", "/nix", "/gnu",
    "/snap", "/sys", "/proc", "/var/lib/dpkg", "/var/lib/rpm", "/var/lib/snapd", "/var/lib/flatpak",
    "/var/db", "/run/current-system", "/run/opengl-driver", "/run/host", "/run/utmp",
    "/home/linuxbrew",
)  # fmt: skip
_SYSTEM_SECRETS = ("/etc/ssl/private", "/etc/krb5.keytab", "/etc/pki/private")
# What programs look for at home: git's settings, and toolchains that are installed there.
_HOME = words("""
    .gitconfig .gitignore .gitignore_global .gitattributes .config/git .config/ripgrep .config/fd
    .config/bat .config/pip .config/mise .ripgreprc .inputrc .terminfo .tool-versions .asdfrc
    .editorconfig .cargo .rustup .nvm .fnm .volta .nodenv .npm-global .npm-packages .bun .deno
    .pyenv .rye .conda .virtualenvs .rbenv .rvm .gem .asdf .sdkman .jenv .goenv .ghcup .cabal
    .stack .opam .dotnet .mix .elan .juliaup .nix-profile .linuxbrew .local/bin .local/lib
    .local/share/uv .local/share/mise .local/share/pipx .local/share/pnpm .local/share/fnm
    .local/share/virtualenvs .local/share/rtx
""")
_TOOLCHAINS = words("""
    JAVA_HOME GOPATH GOROOT CARGO_HOME RUSTUP_HOME NVM_DIR PYENV_ROOT RBENV_ROOT SDKMAN_DIR
    ANDROID_HOME ANDROID_SDK_ROOT CONDA_PREFIX HOMEBREW_PREFIX
""")
_PROGRAM_DIRECTORIES = frozenset({"bin", "sbin", "shims"})
_MAX_POINTER_CHARS = 4096


def reading_confinement(
    workspace: Workspace, *, temp: str, environment: Mapping[str, str], secrets: Iterable[str] = ()
) -> Confinement:
    """The limits of a command that must only look, as the files are now.

    `temp` is a directory of our own, the only one it can write to; `secrets` are the files in the
    workspace that it must not read.
    """
    home = os.path.realpath(workspace.home)
    temp = os.path.realpath(temp) if temp else ""
    roots = (workspace.root, *workspace.added)
    own = tuple(map(os.path.realpath, workspace.own))
    # On macOS programs need more of the system than we could list without trying it.
    everything = () if sys.platform == "darwin" else ("/",)
    hidden = (*everything, *known_secrets(home), *_SYSTEM_SECRETS, *own, *_own_files(secrets))
    readable = (
        *_SYSTEM,
        *(os.path.join(home, name) for name in _HOME),
        *_toolchains(environment, home),
        *(place for root in roots for place in _repository(root, home)),
        *workspace.readable,
        *roots,
    )
    marked = {path: False for path in _real(hidden) if path not in roots}
    marked |= dict.fromkeys(_real(readable), True)
    shown = list(_that_count(marked))
    links = ((path, os.readlink(path)) for path in readable if os.path.islink(path))
    return Confinement(
        writable=(temp,) if temp else (),
        profile=Profile.READ_ONLY,
        hidden=tuple(path for path in shown if not marked[path]),
        readable=tuple(path for path in shown if marked[path]),
        links=tuple(links),
        temp=temp,
    )


def _real(places: Iterable[str]) -> Iterator[str]:
    """Where those places are that exist: most don't, and looking for links takes its time."""
    return (os.path.realpath(place) for place in places if os.path.lexists(place))


def _that_count(marked: Mapping[str, bool]) -> Iterator[str]:
    """The places that are hidden or readable unlike what is around them: each costs time."""
    kept: dict[str, bool] = {}
    for path in sorted(marked, key=len):
        around, above = True, path
        while above != "/":
            above = os.path.dirname(above)
            if above in kept:
                around = kept[above]
                break
        if marked[path] != around and os.access(path, os.R_OK):
            kept[path] = marked[path]
            yield path


def _own_files(secrets: Iterable[str]) -> Iterator[str]:
    """Files, and what links lead to unless that is part of the system: a link hides no program."""
    for path in secrets:
        if not (os.path.islink(path) and _is_system(os.path.realpath(path))):
            yield path


def _is_system(path: str) -> bool:
    return any(contains(place, path) for place in _SYSTEM)


def _toolchains(environment: Mapping[str, str], home: str) -> Iterator[str]:
    """Where the programs on the search path are, with what belongs to them."""
    for entry in environment.get("PATH", "").split(os.pathsep):
        place = os.path.realpath(entry) if os.path.isabs(entry) else ""
        above = os.path.dirname(place)
        if _is_prefix(above, os.path.basename(place)) and not contains(above, home):
            yield above
        elif place and not contains(place, home):
            yield place
    for name in _TOOLCHAINS:
        place = os.path.realpath(environment.get(name) or "/")
        if not contains(place, home):
            yield place


def _is_prefix(directory: str, name: str) -> bool:
    """Whether programs were installed here together with what they need."""
    return name in _PROGRAM_DIRECTORIES and any(
        os.path.isdir(os.path.join(directory, each)) for each in ("lib", "libexec", "share")
    )


def _repository(root: str, home: str) -> Iterator[str]:
    """What git needs outside the workspace: the rest of the repository, or where its data are."""
    place = root
    while True:
        git = os.path.join(place, ".git")
        if os.path.lexists(git):
            break
        if place == "/":
            return
        place = os.path.dirname(place)
    if place != root:
        yield git if contains(place, home) else place
    data = os.path.realpath(git) if os.path.isdir(git) else _data_of_worktree(git)
    if data is None or not os.path.isfile(os.path.join(data, "HEAD")):
        return
    yield data
    common = _pointer(os.path.join(data, "commondir"), data)
    if common and os.path.dirname(data) == os.path.join(common, "worktrees"):
        yield common
        data = common
    store = _pointer(os.path.join(data, "objects", "info", "alternates"), f"{data}/objects")
    if store and os.path.basename(store) == "objects" and os.path.isdir(f"{store}/pack"):
        yield store


def _data_of_worktree(git: str) -> str | None:
    """Where a `.git` file points, if git itself put it there: then that place points back."""
    data = _pointer(git, os.path.dirname(git), "gitdir: ")
    if data is None:
        return None
    back = _pointer(os.path.join(data, "gitdir"), data)
    is_worktree = back is not None and os.path.realpath(back) == git
    # A submodule's data are in the repository around it.
    is_submodule = f"{os.sep}.git{os.sep}modules{os.sep}" in data and contains(
        data.partition(f"{os.sep}.git{os.sep}")[0] or "/", git
    )
    return data if is_worktree or is_submodule else None


def _pointer(path: str, base: str, prefix: str = "") -> str | None:
    """The place that the first line of a file names."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            line = file.readline(_MAX_POINTER_CHARS).rstrip("\n")
    except OSError:
        return None
    if not line.startswith(prefix) or line == prefix:
        return None
    return os.path.realpath(os.path.join(base, line.removeprefix(prefix)))
