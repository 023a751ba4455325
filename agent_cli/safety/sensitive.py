"""Files that must not be read or written without a person's yes, told from the path alone."""

import posixpath
import unicodedata
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise

from agent_cli.safety.reasons import Reason, because

# Everything below is compared case-folded and NFC-normalised, component by component, so that the
# twin of a name on a case-insensitive disk and a file that does not exist yet are found as well.

SECRET_NAMES: dict[str, str] = {
    ".env*": "environment_secrets",
    "*.env": "environment_secrets",
    "*.pem": "maybe_private_key",
    "*.key": "maybe_private_key",
    "*.p12": "maybe_private_key",
    "*.pfx": "maybe_private_key",
    "*.jks": "maybe_private_key",
    "*.keystore": "maybe_private_key",
    "*.ppk": "maybe_private_key",
    "*.kdbx": "password_store",
    "*.p8": "maybe_private_key",
    "id_rsa*": "private_key",
    "id_dsa*": "private_key",
    "id_ecdsa*": "private_key",
    "id_ed25519*": "private_key",
    ".npmrc": "maybe_registry_token",
    ".yarnrc.yml": "maybe_registry_token",
    ".pypirc": "registry_passwords",
    ".netrc": "passwords",
    "_netrc": "passwords",
    ".pgpass": "passwords",
    ".my.cnf": "passwords",
    ".htpasswd": "password_hashes",
    ".git-credentials": "passwords",
    ".dockercfg": "registry_passwords",
    ".vault-token": "token",
    ".s3cfg": "credentials",
    ".boto": "credentials",
    "kubeconfig": "cluster_credentials",
    "credentials.json": "maybe_credentials",
    "client_secret*.json": "client_secret",
    "service-account*.json": "maybe_credentials",
    "service_account*.json": "maybe_credentials",
    "secrets.y*ml": "maybe_secrets",
    "secrets.json": "maybe_secrets",
    "secrets.toml": "maybe_secrets",
    "*.tfstate": "maybe_secrets",
    "*.tfstate.backup": "maybe_secrets",
    "*.tfvars": "maybe_secrets",
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
    ".ssh": "ssh_keys",
    ".gnupg": "gnupg_keys",
    ".aws": "aws_credentials",
    ".azure": "azure_credentials",
    ".kube": "cluster_credentials",
    ".docker/config.json": "registry_passwords",
    ".config/gcloud": "google_credentials",
    ".config/gh": "github_token",
    ".config/hub": "github_token",
    ".password-store": "password_store",
    ".local/share/keyrings": "password_store",
    ".mozilla": "browser_sessions",
    ".config/google-chrome": "browser_sessions",
    ".config/chromium": "browser_sessions",
    ".config/agent": "agent_settings",
    ".local/state/agent": "agent_records",
    ".bash_history": "shell_history",
    ".zsh_history": "shell_history",
    ".python_history": "shell_history",
    ".cargo/credentials.toml": "registry_token",
    ".cargo/credentials": "registry_token",
    ".terraform.d/credentials.tfrc.json": "token",
    "library/keychains": "password_store",
}
SECRET_SYSTEM: dict[str, str] = {
    "/etc/shadow": "password_hashes",
    "/etc/gshadow": "password_hashes",
    "/etc/sudoers": "sudo_policy",
    "/etc/sudoers.d": "sudo_policy",
    "/etc/ssh": "host_keys",
}
# Any component with one of these names makes everything below it secret, wherever it stands.
SECRET_COMPONENTS: dict[str, str] = {
    ".ssh": "ssh_keys",
    ".gnupg": "gnupg_keys",
    ".aws": "aws_credentials",
    ".kube": "cluster_credentials",
}

# Any component with one of these names makes everything below it protected.
PROTECTED_COMPONENTS: dict[str, str] = {
    ".git": "git_hooks",
    ".hg": "mercurial_hooks",
    ".husky": "husky_hooks",
    ".vscode": "editor_commands",
    ".idea": "editor_commands",
    ".zed": "editor_commands",
    ".devcontainer": "container_commands",
    ".cursor": "some_agent_settings",
    ".claude": "some_agent_settings",
    ".codex": "some_agent_settings",
    ".gemini": "some_agent_settings",
    ".windsurf": "some_agent_settings",
    ".continue": "some_agent_settings",
    ".opencode": "some_agent_settings",
    ".vibe": "some_agent_settings",
    ".agents": "some_agent_settings",
    ".agent": "own_agent_settings",
    ".direnv": "direnv_directory",
    ".ssh": "ssh_settings",
    ".gnupg": "gnupg_settings",
}
PROTECTED_NAMES: dict[str, str] = {
    ".gitmodules": "git_modules",
    ".gitattributes": "git_filters",
    ".gitconfig": "git_programs",
    ".gitignore_global": "git_everywhere",
    ".mcp.json": "agent_servers",
    "mcp.json": "agent_servers",
    ".envrc": "direnv_file",
    ".ripgreprc": "ripgrep_programs",
    ".pre-commit-config.yaml": "commit_hooks",
    "agents.md": "agent_instructions",
    "agents.override.md": "agent_instructions",
    "claude.md": "agent_instructions",
    "claude.local.md": "agent_instructions",
    "gemini.md": "agent_instructions",
    ".cursorrules": "agent_instructions",
    ".windsurfrules": "agent_instructions",
    ".clinerules": "agent_instructions",
    ".aider.conf.yml": "some_agent_settings",
    "copilot-instructions.md": "agent_instructions",
    ".gitlab-ci.yml": "continuous_integration",
    "jenkinsfile": "continuous_integration",
}
PROTECTED_PAIRS: dict[tuple[str, str], str] = {
    (".github", "workflows"): "continuous_integration",
    (".github", "actions"): "continuous_integration",
    (".circleci", "config.yml"): "continuous_integration",
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
        "new_shells",
    ),
    ".config/systemd": "login_programs",
    ".config/autostart": "login_programs",
    ".config/environment.d": "login_environment",
    ".config/git": "git_programs",
    ".config/agent": "own_agent_settings",
    ".local/state/agent": "own_agent_records",
    ".local/share/agent": "own_agent_records",
    ".local/bin": "earlier_programs",
    "bin": "earlier_programs",
    ".config/nvim": "editor_runs",
    ".vim": "editor_runs",
    ".vimrc": "editor_runs",
    ".emacs": "editor_runs",
    ".emacs.d": "editor_runs",
    ".tmux.conf": "tmux_runs",
    ".npmrc": "npm_settings",
    ".aws": "aws_settings",
    ".kube": "cluster_settings",
    ".docker": "docker_settings",
    "library/launchagents": "login_programs",
}
# Shell start-up files are dangerous in a repository too: a person may link their home to it.
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
    if any(fnmatchcase(name, pattern) for pattern in NOT_SECRET):
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
