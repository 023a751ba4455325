"""Files that must not be read or written without the user's yes, told from the path alone."""

import os
import posixpath
import unicodedata
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise

from agent_cli.safety.name_sets import names
from agent_cli.safety.reasons import Reason, because


def _by_reason(text: str) -> dict[str, str]:
    """Name → the code of its reason, from lines of `reason: names`; the order is kept."""
    rows = (line.split() for line in text.strip().splitlines())
    return {name: code.rstrip(":") for code, *found in rows for name in found}


# Everything below is compared case-folded and NFC-normalised, component by component, so that the
# twin of a name on a case-insensitive disk and a file that does not exist yet are found as well.

SECRET_NAMES = _by_reason("""
    environment_secrets: .env* *.env
    maybe_private_key: *.pem *.key *.p12 *.pfx *.jks *.keystore *.ppk
    password_store: *.kdbx
    maybe_private_key: *.p8
    private_key: id_rsa* id_dsa* id_ecdsa* id_ed25519*
    maybe_registry_token: .npmrc .yarnrc.yml
    registry_passwords: .pypirc
    passwords: .netrc _netrc .pgpass .my.cnf
    password_hashes: .htpasswd
    passwords: .git-credentials
    registry_passwords: .dockercfg
    token: .vault-token
    credentials: .s3cfg .boto
    cluster_credentials: kubeconfig
    maybe_credentials: credentials.json
    client_secret: client_secret*.json
    maybe_credentials: service-account*.json service_account*.json
    maybe_secrets: secrets.y*ml secrets.json secrets.toml *.tfstate *.tfstate.backup *.tfvars
""")
NOT_SECRET = names(
    ".env.example .env.sample .env.template .env.dist example.env sample.env template.env "
    "id_rsa.pub id_dsa.pub id_ecdsa.pub id_ed25519.pub"
)

# Directories whose whole content is secret, relative to the home directory.
SECRET_HOME = _by_reason("""
    ssh_keys: .ssh
    gnupg_keys: .gnupg
    aws_credentials: .aws
    azure_credentials: .azure
    cluster_credentials: .kube
    registry_passwords: .docker/config.json
    google_credentials: .config/gcloud
    github_token: .config/gh .config/hub
    password_store: .password-store .local/share/keyrings
    browser_sessions: .mozilla .config/google-chrome .config/chromium
    agent_settings: .config/agent
    agent_records: .local/state/agent
    shell_history: .bash_history .zsh_history .python_history
    registry_token: .cargo/credentials.toml .cargo/credentials
    token: .terraform.d/credentials.tfrc.json
    password_store: library/keychains
""")
SECRET_SYSTEM = _by_reason("""
    password_hashes: /etc/shadow /etc/gshadow
    sudo_policy: /etc/sudoers /etc/sudoers.d
    host_keys: /etc/ssh
""")
# Any component with one of these names makes everything below it secret, wherever it stands.
SECRET_COMPONENTS = _by_reason("""
    ssh_keys: .ssh
    gnupg_keys: .gnupg
    aws_credentials: .aws
    cluster_credentials: .kube
""")

# Any component with one of these names makes everything below it protected.
PROTECTED_COMPONENTS = _by_reason("""
    git_hooks: .git
    mercurial_hooks: .hg
    husky_hooks: .husky
    editor_commands: .vscode .idea .zed
    container_commands: .devcontainer
    some_agent_settings: .cursor .claude .codex .gemini .windsurf .continue .opencode .vibe .agents
    own_agent_settings: .agent
    direnv_directory: .direnv
    ssh_settings: .ssh
    gnupg_settings: .gnupg
""")
PROTECTED_NAMES = _by_reason("""
    git_modules: .gitmodules
    git_filters: .gitattributes
    git_programs: .gitconfig
    git_everywhere: .gitignore_global
    agent_servers: .mcp.json mcp.json
    direnv_file: .envrc
    ripgrep_programs: .ripgreprc
    commit_hooks: .pre-commit-config.yaml
    agent_instructions: agents.md agents.override.md claude.md claude.local.md gemini.md
    agent_instructions: .cursorrules .windsurfrules .clinerules
    some_agent_settings: .aider.conf.yml
    agent_instructions: copilot-instructions.md
    continuous_integration: .gitlab-ci.yml jenkinsfile
""")
PROTECTED_PAIRS: dict[tuple[str, str], str] = {
    (".github", "workflows"): "continuous_integration",
    (".github", "actions"): "continuous_integration",
    (".circleci", "config.yml"): "continuous_integration",
}
PROTECTED_HOME = _by_reason("""
    new_shells: .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc
    new_shells: .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login .inputrc
    new_shells: .config/fish .xprofile .xinitrc .xsession .xsessionrc .pam_environment
    login_programs: .config/systemd .config/autostart
    login_environment: .config/environment.d
    git_programs: .config/git
    own_agent_settings: .config/agent
    own_agent_records: .local/state/agent .local/share/agent
    earlier_programs: .local/bin bin
    editor_runs: .config/nvim .vim .vimrc .emacs .emacs.d
    tmux_runs: .tmux.conf
    npm_settings: .npmrc
    aws_settings: .aws
    cluster_settings: .kube
    docker_settings: .docker
    login_programs: library/launchagents
""")
# Shell start-up files are dangerous in a repository too: the user may link their home to it.
PROTECTED_ANYWHERE = frozenset(
    name for name in PROTECTED_HOME if name.startswith(".") and name.endswith(("rc", "profile"))
) - {".npmrc"}
OWN_HOME = (".config/agent", ".local/state/agent", ".local/share/agent")


def is_secret(path: str, home: str) -> Reason | None:
    """Why reading this absolute path may reveal a secret, or None."""
    code = _secret(_fold(path), _fold(home))
    return because(code) if code else None


def is_protected(path: str, home: str) -> Reason | None:
    """Why writing this absolute path could run code or change what is allowed, or None."""
    code = _protection_reason(_fold(path), _fold(home))
    return because(code) if code else None


def is_own_policy(path: str, home: str) -> Reason | None:
    """Why writing this absolute path would let the agent change its own rules, or None."""
    folded, folded_home = _fold(path), _fold(home)
    if any(_below(folded, posixpath.join(folded_home, own)) for own in OWN_HOME):
        return because("own_settings")
    if ".agent" in folded.split("/"):
        return because("own_project_settings")
    return None


MAX_ENTRIES = 20_000
"""Entries of a tree that are looked at before it counts as unknown."""


def find_secret_below(directory: str, home: str) -> str | None:
    """A secret file at or below a directory; None if there is none.

    Where that cannot be told, because the tree is too large or closed, the directory itself is the
    answer: unknown counts as yes.
    """
    left = MAX_ENTRIES
    pending = [directory]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                found = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except NotADirectoryError:
            return directory if is_secret(directory, home) else None
        except FileNotFoundError:
            continue
        except OSError:
            return directory
        left -= len(found)
        if left < 0:
            return directory
        for path in candidates(path for path, _ in found):
            if is_secret(path, home):
                return path
        pending.extend(
            path for path, is_folder in found if is_folder and not path.endswith("/.git/objects")
        )
    return None


def candidates(paths: Iterable[str]) -> Iterator[str]:
    """The paths that may be secret: told quickly, because there are many of them."""
    starts, ends, parts = _signs()
    for path in paths:
        folded = path.casefold()
        name = folded.rpartition("/")[2]
        if (
            name.startswith(starts)
            or name.endswith(ends)
            or not parts.isdisjoint(folded.split("/"))
        ):
            yield path


@lru_cache(maxsize=1)
def _signs() -> tuple[tuple[str, ...], tuple[str, ...], frozenset[str]]:
    """How secret names begin, how the others end, and names of secret places."""
    starts = {start for pattern in SECRET_NAMES if (start := pattern.partition("*")[0])}
    ends = {pattern.rpartition("*")[2] for pattern in SECRET_NAMES if pattern.startswith("*")}
    places = {path.rpartition("/")[2] for path in (*SECRET_HOME, *SECRET_SYSTEM)}
    return tuple(starts), tuple(ends), frozenset({*SECRET_COMPONENTS, *places})


@lru_cache(maxsize=4096)
def _secret(path: str, home: str) -> str | None:
    if path.startswith("/proc/") and posixpath.basename(path) in {"environ", "mem", "maps"}:
        return "process_memory"
    reason = _under(path, home, SECRET_HOME) or _under(path, "/", SECRET_SYSTEM)
    if reason:
        return reason
    for part in path.split("/"):
        if part in SECRET_COMPONENTS:
            return SECRET_COMPONENTS[part]
    name = posixpath.basename(path)
    if name in NOT_SECRET:
        return None
    return next((why for pattern, why in SECRET_NAMES.items() if fnmatchcase(name, pattern)), None)


@lru_cache(maxsize=4096)
def _protection_reason(path: str, home: str) -> str | None:
    parts = path.split("/")
    for part in parts:
        if part in PROTECTED_COMPONENTS:
            return PROTECTED_COMPONENTS[part]
    for pair in pairwise(parts):
        if pair in PROTECTED_PAIRS:
            return PROTECTED_PAIRS[pair]
    name = parts[-1]
    if name in PROTECTED_NAMES:
        return PROTECTED_NAMES[name]
    if name in PROTECTED_ANYWHERE:
        return "new_shells"
    return _under(path, home, PROTECTED_HOME)


def _under(path: str, base: str, table: dict[str, str]) -> str | None:
    if base != "/" and not _below(path, base):
        return None
    for name, why in table.items():
        if _below(path, posixpath.join(base, name)):
            return why
    return None


def _below(path: str, base: str) -> bool:
    return path == base or path.startswith(base.rstrip("/") + "/")


@lru_cache(maxsize=4096)
def _fold(path: str) -> str:
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
    folded = posixpath.normpath(plain)
    # POSIX keeps exactly two leading slashes; Linux and macOS do not care.
    return folded[1:] if folded.startswith("//") else folded
