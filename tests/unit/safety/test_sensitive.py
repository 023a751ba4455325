"""Names alone tell what is secret and what is protected."""

import pytest

from agent_cli.safety.sensitive import is_own_policy, is_protected, is_secret

HOME = "/home/u"


@pytest.mark.parametrize(
    "path",
    [
        "/p/.env", "/p/.env.local", "/p/.ENV", "/p/x.pem", "/p/X.KEY", "/p/id_rsa", "/p/a/../.env",
        "/home/u/.ssh/config", "/home/u/.aws/x", "/p/.npmrc", "/proc/1/environ", "/etc/shadow",
        "/home/u/.kube/config", "/p/.ssh/known", "/home/u/.bash_history", "//p/.env",
    ],
)  # fmt: skip
def test_secret(path: str) -> None:
    assert is_secret(path, HOME)


@pytest.mark.parametrize(
    "path",
    ["/p/.env.example", "/p/env", "/p/environment.py", "/p/key.py", "/p/README.md", "/p/src"],
)
def test_not_secret(path: str) -> None:
    assert is_secret(path, HOME) is None


@pytest.mark.parametrize(
    "path",
    [
        "/p/.git/config", "/p/.git/hooks/x", "/p/.VSCODE/x", "/p/.cursor/mcp.json", "/p/.envrc",
        "/p/.github/workflows/ci.yml", "/p/AGENTS.md", "/p/.gitattributes", "/home/u/.bashrc",
        "/home/u/.config/systemd/user/a.service", "/p/.mcp.json", "/p/.agent/config.toml",
        "/p/.bashrc",
    ],
)  # fmt: skip
def test_protected(path: str) -> None:
    assert is_protected(path, HOME)


@pytest.mark.parametrize(
    "path", ["/p/src/a.py", "/p/.gitignore", "/p/.github/x.md", "/p/git/config"]
)
def test_not_protected(path: str) -> None:
    assert is_protected(path, HOME) is None


def test_the_agents_own_files() -> None:
    assert is_own_policy("/p/.Agent/x", HOME) and is_own_policy("/home/u/.config/agent/x", HOME)
    assert is_own_policy("/p/agent/x", HOME) is None
