"""Files that must not be read or written without a person's yes, told from the path alone."""

import posixpath
import unicodedata
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise

from agent_cli.lib.language import mark, tr

# Everything below is compared case-folded and NFC-normalised, component by component, so that the
# twin of a name on a case-insensitive disk and a file that does not exist yet are found as well.

SECRET_NAMES: dict[str, str] = {
    ".env*": mark("holds environment secrets"),
    "*.env": mark("holds environment secrets"),
    "*.pem": mark("may be a private key"),
    "*.key": mark("may be a private key"),
    "*.p12": mark("may be a private key"),
    "*.pfx": mark("may be a private key"),
    "*.jks": mark("may be a private key"),
    "*.keystore": mark("may be a private key"),
    "*.ppk": mark("may be a private key"),
    "*.kdbx": mark("is a password store"),
    "*.p8": mark("may be a private key"),
    "id_rsa*": mark("is a private key"),
    "id_dsa*": mark("is a private key"),
    "id_ecdsa*": mark("is a private key"),
    "id_ed25519*": mark("is a private key"),
    ".npmrc": mark("may hold a registry token"),
    ".yarnrc.yml": mark("may hold a registry token"),
    ".pypirc": mark("holds registry passwords"),
    ".netrc": mark("holds passwords"),
    "_netrc": mark("holds passwords"),
    ".pgpass": mark("holds passwords"),
    ".my.cnf": mark("holds passwords"),
    ".htpasswd": mark("holds password hashes"),
    ".git-credentials": mark("holds passwords"),
    ".dockercfg": mark("holds registry passwords"),
    ".vault-token": mark("holds a token"),
    ".s3cfg": mark("holds credentials"),
    ".boto": mark("holds credentials"),
    "kubeconfig": mark("holds cluster credentials"),
    "credentials.json": mark("may hold credentials"),
    "client_secret*.json": mark("holds a client secret"),
    "service-account*.json": mark("may hold credentials"),
    "service_account*.json": mark("may hold credentials"),
    "secrets.y*ml": mark("may hold secrets"),
    "secrets.json": mark("may hold secrets"),
    "secrets.toml": mark("may hold secrets"),
    "*.tfstate": mark("may hold secrets"),
    "*.tfstate.backup": mark("may hold secrets"),
    "*.tfvars": mark("may hold secrets"),
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
    ".ssh": mark("holds SSH keys"),
    ".gnupg": mark("holds GnuPG keys"),
    ".aws": mark("holds AWS credentials"),
    ".azure": mark("holds Azure credentials"),
    ".kube": mark("holds cluster credentials"),
    ".docker/config.json": mark("holds registry passwords"),
    ".config/gcloud": mark("holds Google Cloud credentials"),
    ".config/gh": mark("holds a GitHub token"),
    ".config/hub": mark("holds a GitHub token"),
    ".password-store": mark("is a password store"),
    ".local/share/keyrings": mark("is a password store"),
    ".mozilla": mark("holds browser sessions"),
    ".config/google-chrome": mark("holds browser sessions"),
    ".config/chromium": mark("holds browser sessions"),
    ".config/agent": mark("holds the agent's own settings"),
    ".local/state/agent": mark("holds the agent's own records"),
    ".bash_history": mark("is a shell history"),
    ".zsh_history": mark("is a shell history"),
    ".python_history": mark("is a shell history"),
    ".cargo/credentials.toml": mark("holds a registry token"),
    ".cargo/credentials": mark("holds a registry token"),
    ".terraform.d/credentials.tfrc.json": mark("holds a token"),
    "library/keychains": mark("is a password store"),
}
SECRET_SYSTEM: dict[str, str] = {
    "/etc/shadow": mark("holds password hashes"),
    "/etc/gshadow": mark("holds password hashes"),
    "/etc/sudoers": mark("is the sudo policy"),
    "/etc/sudoers.d": mark("is the sudo policy"),
    "/etc/ssh": mark("holds host keys"),
}
# Any component with one of these names makes everything below it secret, wherever it stands.
SECRET_COMPONENTS: dict[str, str] = {
    ".ssh": mark("holds SSH keys"),
    ".gnupg": mark("holds GnuPG keys"),
    ".aws": mark("holds AWS credentials"),
    ".kube": mark("holds cluster credentials"),
}

# Any component with one of these names makes everything below it protected.
PROTECTED_COMPONENTS: dict[str, str] = {
    ".git": mark("git runs hooks and helpers from here"),
    ".hg": mark("Mercurial runs hooks from here"),
    ".husky": mark("git hooks are run from here"),
    ".vscode": mark("the editor can run commands from here"),
    ".idea": mark("the editor can run commands from here"),
    ".zed": mark("the editor can run commands from here"),
    ".devcontainer": mark("container start-up commands are run from here"),
    ".cursor": mark("an agent's settings"),
    ".claude": mark("an agent's settings"),
    ".codex": mark("an agent's settings"),
    ".gemini": mark("an agent's settings"),
    ".windsurf": mark("an agent's settings"),
    ".continue": mark("an agent's settings"),
    ".opencode": mark("an agent's settings"),
    ".vibe": mark("an agent's settings"),
    ".agents": mark("an agent's settings"),
    ".agent": mark("the agent's own settings"),
    ".direnv": mark("direnv runs what is here"),
    ".ssh": mark("SSH keys and settings"),
    ".gnupg": mark("GnuPG keys and settings"),
}
PROTECTED_NAMES: dict[str, str] = {
    ".gitmodules": mark("git fetches and configures repositories from it"),
    ".gitattributes": mark("git chooses filters and diff programs from it"),
    ".gitconfig": mark("git runs programs named in it"),
    ".gitignore_global": mark("git reads it everywhere"),
    ".mcp.json": mark("agents start servers from it"),
    "mcp.json": mark("agents start servers from it"),
    ".envrc": mark("direnv runs it"),
    ".ripgreprc": mark("ripgrep runs programs named in it"),
    ".pre-commit-config.yaml": mark("commit hooks are run from it"),
    "agents.md": mark("instructions for agents"),
    "agents.override.md": mark("instructions for agents"),
    "claude.md": mark("instructions for agents"),
    "claude.local.md": mark("instructions for agents"),
    "gemini.md": mark("instructions for agents"),
    ".cursorrules": mark("instructions for agents"),
    ".windsurfrules": mark("instructions for agents"),
    ".clinerules": mark("instructions for agents"),
    ".aider.conf.yml": mark("an agent's settings"),
    "copilot-instructions.md": mark("instructions for agents"),
    ".gitlab-ci.yml": mark("continuous integration runs it"),
    "jenkinsfile": mark("continuous integration runs it"),
}
PROTECTED_PAIRS: dict[tuple[str, str], str] = {
    (".github", "workflows"): mark("continuous integration runs it"),
    (".github", "actions"): mark("continuous integration runs it"),
    (".circleci", "config.yml"): mark("continuous integration runs it"),
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
        mark("every new shell runs it"),
    ),
    ".config/systemd": mark("starts programs at login"),
    ".config/autostart": mark("starts programs at login"),
    ".config/environment.d": mark("sets the environment at login"),
    ".config/git": mark("git runs programs named in it"),
    ".config/agent": mark("the agent's own settings"),
    ".local/state/agent": mark("the agent's own records"),
    ".local/share/agent": mark("the agent's own records"),
    ".local/bin": mark("programs found before the system's"),
    "bin": mark("programs found before the system's"),
    ".config/nvim": mark("the editor runs it"),
    ".vim": mark("the editor runs it"),
    ".vimrc": mark("the editor runs it"),
    ".emacs": mark("the editor runs it"),
    ".emacs.d": mark("the editor runs it"),
    ".tmux.conf": mark("tmux runs it"),
    ".npmrc": mark("npm takes its registry and scripts from it"),
    ".aws": mark("AWS credentials"),
    ".kube": mark("cluster credentials"),
    ".docker": mark("Docker credentials and plugins"),
    "library/launchagents": mark("starts programs at login"),
}
# Shell start-up files are dangerous in a repository too: a person may link their home to it.
PROTECTED_ANYWHERE = frozenset(
    name for name in PROTECTED_HOME if name.startswith(".") and name.endswith(("rc", "profile"))
) - {".npmrc"}
OWN_HOME = (".config/agent", ".local/state/agent", ".local/share/agent")


def is_secret(path: str, home: str) -> str | None:
    """Why reading this absolute path may reveal a secret, or None."""
    why = _secret(_fold(path), _fold(home))
    return why and tr(why)


def is_protected(path: str, home: str) -> str | None:
    """Why writing this absolute path could run code or change what is allowed, or None."""
    why = _protected(_fold(path), _fold(home))
    return why and tr(why)


def is_own_policy(path: str, home: str) -> str | None:
    """Why writing this absolute path would let the agent change its own rules, or None."""
    folded, folded_home = _fold(path), _fold(home)
    if any(_below(folded, posixpath.join(folded_home, own)) for own in OWN_HOME):
        return tr("the agent's own settings and records")
    if ".agent" in folded.split("/"):
        return tr("the agent's own project settings")
    return None


@lru_cache(maxsize=4096)
def _secret(path: str, home: str) -> str | None:
    if path.startswith("/proc/") and posixpath.basename(path) in {"environ", "mem", "maps"}:
        return mark("the memory or environment of a process")
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
        return mark("every new shell runs it")
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
