"""Keys reach neither a log, nor a kept output, nor a stream, nor a file others can read."""

import json
import logging
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agent_cli.extensions.mcp.config_editing import add_to_toml
from agent_cli.safety.environment import looks_secret
from agent_cli.safety.redact import RedactedStream, Redactor
from tests.kit.extensions import extended
from tests.kit.program import Program
from tests.kit.sessions import SceneMaker, results

KEY = "sk-proj-Zq81mXv0aTn37LcPp5Rw"
PASSWORD = "Tr0ub4dor-and-3"
PEM = f"-----BEGIN PRIVATE KEY-----\n{'MIIEvQIBADANBgkqhkiG9w0B' * 20}\n-----END PRIVATE KEY-----\n"


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"name": "Bash", "arguments": {"command": command}}]}


def holding(folder: Path, *secrets: str) -> list[Path]:
    """The files that hold one of these texts."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if any(s.encode() in path.read_bytes() for s in secrets)]


def test_nothing_that_is_kept_or_streamed_holds_a_key(program: Program) -> None:
    (program.workspace / "make.py").write_text(
        f"import sys, time\nprint('x' * 300000)\n"
        f"sys.stdout.write('{KEY[:12]}'); sys.stdout.flush(); time.sleep(0.3)\n"
        f"print('{KEY[12:]}')\nprint('DB_PASSWORD={PASSWORD}')\nprint('y' * 300000)\n"
    )
    (program.workspace / "pieces.py").write_text(
        f"import sys, time\nsys.stdout.write('key {KEY[:12]}'); sys.stdout.flush(); time.sleep(0.3)\n"
        f"print('{KEY[12:]}')\nprint('DB_PASSWORD={PASSWORD}')\n"
    )
    read = {"calls": [{"name": "Nonexistent", "arguments": {"key": KEY}}]}
    model = program.script(
        bash("python3 make.py"), bash("python3 pieces.py"), read, {"text": "done"}
    )
    flags = ("--trust", "--permission-mode", "yolo", "--output-format", "stream-json")
    done = program.run("-p", "go", "--model", model, *flags)
    assert done.events[-1]["reason"] == "done"
    assert any(event["type"] == "tool_progress" for event in done.events)
    progress = "".join(
        e["text"] for e in done.events if e["type"] == "tool_progress" and e.get("text")
    )
    assert "«secret" in progress
    assert KEY not in progress
    assert KEY[12:] not in progress
    assert PASSWORD not in progress
    state = program.home / ".local" / "state" / "agent"
    assert list(state.rglob("results/*/*"))
    kept = [path for path in holding(state, KEY, PASSWORD) if "checkpoints" not in path.parts]
    assert kept == []


async def test_the_log_holds_no_key_of_an_exception(
    make_session: SceneMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("agent_cli"), "handlers", [])  # of sessions before
    make_session({"text": "."}, environment={"OPENAI_API_KEY": KEY, "AGENT_HOME": ""})
    log = logging.getLogger("agent_cli.test")
    log.error("failed with %s", KEY, exc_info=ValueError(f"401 for {KEY}, password={PASSWORD}"))
    written = list(make_session.home.rglob("agent.log"))
    for handler in logging.getLogger("agent_cli").handlers:
        handler.flush()
    assert written
    text = written[0].read_text()
    assert "ValueError" in text
    assert KEY not in text
    assert PASSWORD not in text


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_a_secret_in_pieces_is_still_one(size: int) -> None:
    text = f"start {KEY} then\npassword = {PASSWORD}\n{PEM}....F.. end"
    stream = RedactedStream(Redactor({}).redact)
    pieces = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
    said = "".join(pieces) + stream.finish()
    assert said == Redactor({}).redact(text)
    assert KEY not in said


def test_progress_that_is_no_secret_is_not_held_back() -> None:
    stream = RedactedStream(Redactor({}).redact)
    assert stream.feed("Compiling ") == "Compiling "
    assert stream.feed("....") == "...."
    assert stream.feed("100%\r") == "100%\r"


async def test_columns_that_are_named_like_secrets_are_hidden(make_session: SceneMaker) -> None:
    database = make_session.workspace / "a.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE users (id, name, password, api_key, refreshToken, note)")
        connection.execute(
            "INSERT INTO users VALUES (1, 'ann', 'hunter', 'abc def', 'tok', 'fine')"
        )
        connection.execute("CREATE TABLE settings (key, value)")
        connection.execute(
            "INSERT INTO settings VALUES ('smtp_password', 'hunter'), ('colour', 'blue')"
        )
    queries = (
        "SELECT * FROM users", "SELECT name, password AS p, api_key k FROM users",
        "SELECT upper(password) || 'x', note FROM users", "SELECT key, value FROM settings",
        "SELECT u.password AS \"x\" FROM users u",
    )  # fmt: skip
    steps = [
        {"calls": [{"name": "SqlQuery", "arguments": {"database": "a.db", "query": q}}]}
        for q in queries
    ]
    scene = make_session(*steps, {"text": "."})
    await extended(scene)
    events = await scene.play()
    said = str([each.result for each in results(events).values()])
    for secret in ("hunter", "HUNTER", "abc def", "'tok'", "| tok |"):
        assert secret not in said
    for plain in ("ann", "fine", "colour", "blue", "smtp_password"):
        assert plain in said


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("PIP_CERT", "/etc/ssl/certs/ca.pem", False),
        ("SSL_CERT_FILE", "/etc/ssl/cert.pem", False),
        ("SSL_CERT_DIR", "/etc/ssl/certs", False),
        ("REQUESTS_CA_BUNDLE", "/etc/ssl/ca", False),
        ("NODE_EXTRA_CA_CERTS", "/etc/ca.pem", False),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/key.json", False),
        ("CLIENT_CERT", "/etc/client", False),
        ("TLS_KEY", "/etc/tls/server.key", False),
        ("SECRET_KEY", "/Zq81mXv0aTn37LcPp5Rw+x", True),
        ("AWS_SECRET_ACCESS_KEY", "/a/Zq81mXv0aTn37LcPp5Rw", True),
        ("CLIENT_CERT", "-----BEGIN CERTIFICATE-----", True),
    ],
)
def test_where_a_secret_lies_is_none(name: str, value: str, secret: bool) -> None:
    assert looks_secret(name, value) is secret


def test_files_with_keys_are_the_users_alone(program: Program) -> None:
    model = program.script({"text": "hi"})
    assert program.run("-p", "go", "--model", model).code == 0
    (info,) = json.loads(f"[{program.run('sessions', 'list', '--json').out.strip()}]")
    program.run("sessions", "export", info["id"], "out.md")
    config = program.home / "config.toml"
    add_to_toml(config, "x", {"url": "http://h/", "headers": {"Authorization": KEY}})
    for path in (program.workspace / "out.md", config):
        assert path.stat().st_mode & 0o077 == 0, path
