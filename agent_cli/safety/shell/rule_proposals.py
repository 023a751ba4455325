"""Propose the narrowest useful rule for "always allow"."""

import re

from agent_cli.safety.name_sets import names
from agent_cli.safety.sensitive import is_protected, is_secret
from agent_cli.safety.shell.shell_facts import SimpleCommand, absolute, lexical
from agent_cli.safety.shell.wrappers import SHELLS, WRAPPERS

# Programs whose arguments are programs, or whose harm depends on their arguments.
NEVER = (
    SHELLS
    | frozenset(WRAPPERS)
    | names(
        "rm rmdir unlink shred dd mv cp ln chmod chown chgrp find fd curl wget nc ncat socat scp "
        "sftp rsync eval source . exec trap alias export declare typeset set unset sed awk gawk "
        "mawk perl ruby php lua node deno bun python python3 python2 pypy pypy3 ipython osascript "
        "expect tclsh vi vim nvim ex ed emacs nano less more man docker podman kubectl crontab at "
        "batch mkfs mount umount kill pkill killall systemctl service launchctl tee truncate tar "
        "unzip zip jq xargs parallel gdb lldb dc git-shell claude codex gemini agent npx bunx uvx "
        "pipx crontab visudo passwd useradd usermod iptables sysctl psql mysql sqlite3 mongo "
        "redis-cli terraform ansible aws gcloud az helm"
    )
)
INTERPRETER = re.compile(r"(python|pypy|perl|ruby|php|lua)[\d.]+")
# How many words name what is run; a rule keeps them and opens the rest.
PREFIX: dict[str, int] = {
    "npm run": 3, "npm test": 2, "pnpm run": 3, "yarn run": 3, "bun run": 3, "cargo": 2, "go": 2,
    "make": 2, "just": 2, "task": 2, "poetry run": 3, "gradle": 2, "./gradlew": 2, "mvn": 2,
    "dotnet": 2, "mix": 2, "rake": 2, "tox": 1, "nox": 1, "pytest": 1, "ruff": 2, "mypy": 1,
    "black": 1, "eslint": 1, "tsc": 1, "jest": 1, "vitest": 1, "prettier": 1, "swift": 2,
    "zig": 2, "ninja": 1, "ctest": 1, "phpunit": 1, "rspec": 1, "terraform": 2,
}  # fmt: skip
# Of these the rest decides what is run: a package from anywhere, a program, a makefile's shell.
EXACT = names("make:* go:run go:install go:get go:tool go:env cargo:install dotnet:tool just:*")
# git subcommands that change only what git itself can bring back.
GIT = names("add commit status log diff show fetch pull switch stash")
# Options that make a known program run something else.
RUNS_ELSE = re.compile(
    r"-c\b|--config|-C\b|-f\b|--file|--exec|-x\b|--plugin|-p\b|--rootdir|--prefix|--require|-r\b|-e\b"
)


def propose_rule(command: SimpleCommand, home: str = "/", cwd: str = "/") -> str | None:
    """A pattern for one simple command (`npm run test *`), or None where none should be offered."""
    argv = command.argv
    if not argv or not command.known or command.level > 0:
        return None
    name = argv[0].rpartition("/")[2]
    if name in NEVER or INTERPRETER.fullmatch(name) or not _is_plain(argv):
        return None
    if "/" in argv[0] and argv[0] not in PREFIX:
        return None
    if any(_is_delicate(word, home, cwd) for word in argv[1:]):
        return None
    if name == "git":
        return _git(argv)
    kept = PREFIX.get(" ".join(argv[:2])) or PREFIX.get(argv[0])
    verb = argv[1] if len(argv) > 1 else ""
    runs_any = f"{name}:{verb}" in EXACT or f"{name}:*" in EXACT
    if argv[:2] == ("poetry", "run") and (argv[2:3] == () or argv[2] in NEVER):
        return None
    if kept is None or runs_any:
        # Nothing is known about the program: exactly this command and no other.
        return " ".join(argv)
    if len(argv) < kept or any(RUNS_ELSE.match(word) for word in argv[1:kept]):
        return " ".join(argv)
    return " ".join([*argv[:kept], "*"])


def _git(argv: tuple[str, ...]) -> str | None:
    if len(argv) < 2 or argv[1] not in GIT:
        return None
    return " ".join(argv)


def _is_plain(argv: tuple[str, ...]) -> bool:
    """Every word must survive being written into a rule and read back."""
    return all(word and re.fullmatch(r"[\w@%+=:,./-]+", word, re.ASCII) for word in argv)


def _is_delicate(word: str, home: str, cwd: str) -> bool:
    path = lexical(absolute(word.partition("=")[2] or word, cwd))
    return is_secret(path, home) is not None or is_protected(path, home) is not None
