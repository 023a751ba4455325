"""Files that must not be read or written without a person's yes, told from the path alone."""

import posixpath
import unicodedata
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise

# Everything below is compared case-folded and NFC-normalised, component by component, so that the
# twin of a name on a case-insensitive disk and a file that does not exist yet are found as well.

SECRET_NAMES: dict[str, str] = {
    ".env*": "holds environment secrets",
    "*.env": "holds environment secrets",
    "*.pem": "may be a private key",
    "*.key": "may be a private key",
    "*.p12": "may be a private key",
    "*.pfx": "may be a private key",
    "*.jks": "may be a private key",
    "*.keystore": "may be a private key",
    "*.ppk": "may be a private key",
    "*.kdbx": "is a password store",
    "*.p8": "may be a private key",
    "id_rsa*": "is a private key",
    "id_dsa*": "is a private key",
    "id_ecdsa*": "is a private key",
    "id_ed25519*": "is a private key",
    ".npmrc": "may hold a registry token",
    ".yarnrc.yml": "may hold a registry token",
    ".pypirc": "holds registry passwords",
    ".netrc": "holds passwords",
    "_netrc": "holds passwords",
    ".pgpass": "holds passwords",
    ".my.cnf": "holds passwords",
    ".htpasswd": "holds password hashes",
    ".git-credentials": "holds passwords",
    ".dockercfg": "holds registry passwords",
    ".vault-token": "holds a token",
    ".s3cfg": "holds credentials",
    ".boto": "holds credentials",
    "kubeconfig": "holds cluster credentials",
    "credentials.json": "may hold credentials",
    "client_secret*.json": "holds a client secret",
    "service-account*.json": "may hold credentials",
    "service_account*.json": "may hold credentials",
    "secrets.y*ml": "may hold secrets",
    "secrets.json": "may hold secrets",
    "secrets.toml": "may hold secrets",
    "*.tfstate": "may hold secrets",
    "*.tfstate.backup": "may hold secrets",
    "*.tfvars": "may hold secrets",
}
NOT_SECRET = (
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    "example.env",
    "sample.env",
    "template.env",
    "id_rsa.pub",
    "id_dsa.pub",
    "id_ecdsa.pub",
    "id_ed25519.pub",
)

# Directories whose whole content is secret, relative to the home directory.
SECRET_HOME: dict[str, str] = {
    ".ssh": "holds SSH keys",
    ".gnupg": "holds GnuPG keys",
    ".aws": "holds AWS credentials",
    ".azure": "holds Azure credentials",
    ".kube": "holds cluster credentials",
    ".docker/config.json": "holds registry passwords",
    ".config/gcloud": "holds Google Cloud credentials",
    ".config/gh": "holds a GitHub token",
    ".config/hub": "holds a GitHub token",
    ".password-store": "is a password store",
    ".local/share/keyrings": "is a password store",
    ".mozilla": "holds browser sessions",
    ".config/google-chrome": "holds browser sessions",
    ".config/chromium": "holds browser sessions",
    ".config/agent": "holds the agent's own settings",
    ".local/state/agent": "holds the agent's own records",
    ".bash_history": "is a shell history",
    ".zsh_history": "is a shell history",
    ".python_history": "is a shell history",
    ".cargo/credentials.toml": "holds a registry token",
    ".cargo/credentials": "holds a registry token",
    ".terraform.d/credentials.tfrc.json": "holds a token",
    "library/keychains": "is a password store",
}
SECRET_SYSTEM: dict[str, str] = {
    "/etc/shadow": "holds password hashes",
    "/etc/gshadow": "holds password hashes",
    "/etc/sudoers": "is the sudo policy",
    "/etc/sudoers.d": "is the sudo policy",
    "/etc/ssh": "holds host keys",
}
# Any component with one of these names makes everything below it secret, wherever it stands.
SECRET_COMPONENTS: dict[str, str] = {
    ".ssh": "holds SSH keys",
    ".gnupg": "holds GnuPG keys",
    ".aws": "holds AWS credentials",
    ".kube": "holds cluster credentials",
}

# Any component with one of these names makes everything below it protected.
PROTECTED_COMPONENTS: dict[str, str] = {
    ".git": "git runs hooks and helpers from here",
    ".hg": "Mercurial runs hooks from here",
    ".husky": "git hooks are run from here",
    ".vscode": "the editor can run commands from here",
    ".idea": "the editor can run commands from here",
    ".zed": "the editor can run commands from here",
    ".devcontainer": "container start-up commands are run from here",
    ".cursor": "an agent's settings",
    ".claude": "an agent's settings",
    ".codex": "an agent's settings",
    ".gemini": "an agent's settings",
    ".windsurf": "an agent's settings",
    ".continue": "an agent's settings",
    ".opencode": "an agent's settings",
    ".vibe": "an agent's settings",
    ".agents": "an agent's settings",
    ".agent": "the agent's own settings",
    ".direnv": "direnv runs what is here",
    ".ssh": "SSH keys and settings",
    ".gnupg": "GnuPG keys and settings",
}
PROTECTED_NAMES: dict[str, str] = {
    ".gitmodules": "git fetches and configures repositories from it",
    ".gitattributes": "git chooses filters and diff programs from it",
    ".gitconfig": "git runs programs named in it",
    ".gitignore_global": "git reads it everywhere",
    ".mcp.json": "agents start servers from it",
    "mcp.json": "agents start servers from it",
    ".envrc": "direnv runs it",
    ".ripgreprc": "ripgrep runs programs named in it",
    ".pre-commit-config.yaml": "commit hooks are run from it",
    "agents.md": "instructions for agents",
    "agents.override.md": "instructions for agents",
    "claude.md": "instructions for agents",
    "claude.local.md": "instructions for agents",
    "gemini.md": "instructions for agents",
    ".cursorrules": "instructions for agents",
    ".windsurfrules": "instructions for agents",
    ".clinerules": "instructions for agents",
    ".aider.conf.yml": "an agent's settings",
    "copilot-instructions.md": "instructions for agents",
    ".gitlab-ci.yml": "continuous integration runs it",
    "jenkinsfile": "continuous integration runs it",
}
PROTECTED_PAIRS: dict[tuple[str, str], str] = {
    (".github", "workflows"): "continuous integration runs it",
    (".github", "actions"): "continuous integration runs it",
    (".circleci", "config.yml"): "continuous integration runs it",
}
PROTECTED_HOME: dict[str, str] = {
    **dict.fromkeys(
        (
            ".bashrc",
            ".bash_profile",
            ".bash_login",
            ".bash_logout",
            ".bash_aliases",
            ".profile",
            ".zshrc",
            ".zshenv",
            ".zprofile",
            ".zlogin",
            ".zlogout",
            ".kshrc",
            ".cshrc",
            ".tcshrc",
            ".login",
            ".inputrc",
            ".config/fish",
            ".xprofile",
            ".xinitrc",
            ".xsession",
            ".xsessionrc",
            ".pam_environment",
        ),
        "every new shell runs it",
    ),
    ".config/systemd": "starts programs at login",
    ".config/autostart": "starts programs at login",
    ".config/environment.d": "sets the environment at login",
    ".config/git": "git runs programs named in it",
    ".config/agent": "the agent's own settings",
    ".local/state/agent": "the agent's own records",
    ".local/share/agent": "the agent's own records",
    ".local/bin": "programs found before the system's",
    "bin": "programs found before the system's",
    ".config/nvim": "the editor runs it",
    ".vim": "the editor runs it",
    ".vimrc": "the editor runs it",
    ".emacs": "the editor runs it",
    ".emacs.d": "the editor runs it",
    ".tmux.conf": "tmux runs it",
    ".npmrc": "npm takes its registry and scripts from it",
    ".aws": "AWS credentials",
    ".kube": "cluster credentials",
    ".docker": "Docker credentials and plugins",
    "library/launchagents": "starts programs at login",
}
# Shell start-up files are dangerous in a repository too: a person may link their home to it.
PROTECTED_ANYWHERE = frozenset(
    name for name in PROTECTED_HOME if name.startswith(".") and name.endswith(("rc", "profile"))
) - {".npmrc"}
OWN_HOME = (".config/agent", ".local/state/agent", ".local/share/agent")


def is_secret(path: str, home: str) -> str | None:
    """Why reading this absolute path may reveal a secret, or None."""
    return _secret(_fold(path), _fold(home))


def is_protected(path: str, home: str) -> str | None:
    """Why writing this absolute path could run code or change what is allowed, or None."""
    return _protected(_fold(path), _fold(home))


def is_own_policy(path: str, home: str) -> str | None:
    """Why writing this absolute path would let the agent change its own rules, or None."""
    folded, folded_home = _fold(path), _fold(home)
    if any(_below(folded, posixpath.join(folded_home, own)) for own in OWN_HOME):
        return "the agent's own settings and records"
    if ".agent" in folded.split("/"):
        return "the agent's own project settings"
    return None


@lru_cache(maxsize=4096)
def _secret(path: str, home: str) -> str | None:
    if path.startswith("/proc/") and posixpath.basename(path) in {"environ", "mem", "maps"}:
        return "the memory or environment of a process"
    reason = _under(path, home, SECRET_HOME) or _under(path, "/", SECRET_SYSTEM)
    if reason:
        return reason
    for part in path.split("/"):
        if part in SECRET_COMPONENTS:
            return SECRET_COMPONENTS[part]
    name = posixpath.basename(path)
    if any(fnmatchcase(name, pattern) for pattern in NOT_SECRET):
        return None
    return next((why for pattern, why in SECRET_NAMES.items() if fnmatchcase(name, pattern)), None)


@lru_cache(maxsize=4096)
def _protected(path: str, home: str) -> str | None:
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
        return "every new shell runs it"
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
