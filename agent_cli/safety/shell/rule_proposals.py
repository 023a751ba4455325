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
# How many words name what is run; a rule keeps them, and opens the rest only to what is harmless.
PREFIX: dict[str, int] = {
    "npm run": 3, "npm test": 2, "pnpm run": 3, "pnpm test": 2, "yarn run": 3, "yarn test": 2,
    "bun run": 3, "bun test": 2, "cargo build": 2, "cargo test": 2, "cargo check": 2,
    "cargo clippy": 2, "go test": 2, "go build": 2, "poetry run": 3, "uv run": 3, "gradle": 2,
    "./gradlew": 2, "mvn": 2, "dotnet build": 2, "dotnet test": 2, "mix test": 2, "rake": 2,
    "pytest": 1, "ruff check": 2, "mypy": 1, "eslint": 1, "tsc": 1, "jest": 1, "vitest": 1,
    "prettier": 1, "black": 1, "swift build": 2, "swift test": 2, "ctest": 1, "phpunit": 1,
    "rspec": 1,
}  # fmt: skip
# Options that change neither what is run nor where it writes, by program.
QUIET = "-q -v -vv -vvv --quiet --verbose --color --no-color --colors --version --help"
HARMLESS_OPTIONS: dict[str, frozenset[str]] = {
    name: names(f"{QUIET} {options}")
    for name, options in {
        "pytest": "-x -s -l -k -m --lf --ff --sw --last-failed --failed-first --stepwise --tb "
        "--maxfail --co --collect-only -rA -ra -rf -rs --durations --no-header --no-summary",
        "cargo": "--release --all --workspace --lib --bins --bin --tests --test --examples "
        "--all-targets --features --all-features --no-default-features --no-run --locked "
        "--offline --nocapture -p --package --doc",
        "go": "-run -count -race -short -cover -timeout -bench -failfast -json -parallel",
        "jest": "-t --testNamePattern --runInBand -i --bail --silent --ci --coverage",
        "vitest": "run -t --testNamePattern --run --bail --silent --reporter --coverage",
        "prettier": "--check -c --list-different -l --log-level --ignore-unknown -u",
        "eslint": "--max-warnings --cache --ext --no-warn-ignored --no-inline-config",
        "tsc": "--noEmit --strict --pretty --skipLibCheck --listFiles",
        "mypy": "--strict --pretty --show-error-codes --ignore-missing-imports --no-error-summary",
        "ruff": "--diff --select --ignore --statistics --no-fix --show-files",
        "black": "--check --diff",
        "npm": "--silent -s --if-present", "pnpm": "--silent", "yarn": "--silent", "bun": "",
        "gradle": "--info --offline", "./gradlew": "--info --offline", "mvn": "-B -o -e --offline",
        "dotnet": "--no-restore --no-build -c", "mix": "--trace --seed", "rake": "--trace",
        "swift": "-c --filter", "ctest": "-R -V --output-on-failure -j", "phpunit": "--filter",
        "rspec": "-e -f --format --fail-fast", "poetry": "", "uv": "",
    }.items()
}  # fmt: skip
# Options without which a program does more than with them: a rule keeps them.
RESTRICTS = names("--check -c --diff --list-different -l --noEmit --dry-run --no-run")
REST = "./**"
"""The last word of a rule: files of the workspace and options that are known to be harmless."""
# A value of an option: a name, a number, an expression without a path in it.
_VALUE = re.compile(r"[\w@%+:,. ()\[\]-]*")
RUNS_SCRIPTS = names("npm pnpm yarn bun cargo")
# git subcommands that change only what git itself can bring back.
GIT = names("add commit status log diff show fetch pull switch stash")


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
    if argv[0] in {"poetry", "uv"} and (argv[2:3] == () or argv[2] in NEVER or argv[2][0] == "-"):
        return None
    program = _program(argv)
    if kept is None or len(argv) < kept or any(word.startswith("-") for word in argv[1:kept]):
        # Nothing is known about the program: exactly this command and no other.
        return " ".join(argv)
    kept += argv[kept : kept + 1] != () and argv[kept] in RESTRICTS
    rest = argv[kept:]
    if not all_harmless(program, rest, home, cwd) or not RESTRICTS.isdisjoint(rest):
        return " ".join(argv)
    return " ".join([*argv[:kept], REST])


def _program(argv: tuple[str, ...]) -> str:
    """The program whose options the rest of the words are."""
    return argv[2] if argv[0] in {"poetry", "uv"} and argv[2:] else argv[0]


def matches_rest(rule: tuple[str, ...], argv: tuple[str, ...], home: str, cwd: str) -> bool:
    """Whether a rule that ends with REST lets these words through."""
    kept = len(rule) - 1
    return argv[:kept] == rule[:-1] and all_harmless(_program(argv), argv[kept:], home, cwd)


def all_harmless(program: str, rest: tuple[str, ...], home: str, cwd: str) -> bool:
    """Whether these words are files of the workspace, or options that change nothing by themselves.

    What follows `--` goes to a script of the project: any option there that names no path.
    """
    known = HARMLESS_OPTIONS.get(program, frozenset())
    end = rest.index("--") if "--" in rest else len(rest)
    for at, word in enumerate(rest):
        option, _, value = word.partition("=")
        if at == end:
            continue
        if word.startswith("-"):
            is_known = option in known or (at > end and program in RUNS_SCRIPTS)
            if not is_known or not _VALUE.fullmatch(value) or not _VALUE.fullmatch(option):
                return False
        elif not _is_own_file(word, home, cwd):
            return False
    return True


def _is_own_file(word: str, home: str, cwd: str) -> bool:
    """A name or a path that stays in the workspace, and is neither secret nor protected."""
    path = word.partition("::")[0]
    if path.startswith(("/", "~")) or ".." in path.split("/") or "=" in path or ":" in path:
        return False
    return not _is_delicate(path, home, cwd)


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
