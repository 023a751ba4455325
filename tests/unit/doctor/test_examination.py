"""No check takes the doctor down, and none keeps it waiting."""

import threading
from pathlib import Path

import pytest

from agent_cli.doctor._check import Check, CheckContext, Finding, ok
from agent_cli.doctor.examination import all_checks, examine
from agent_cli.doctor.file_checks import permissions
from agent_cli.doctor.server_checks import servers
from agent_cli.doctor.settings_checks import configuration, keys
from agent_cli.doctor.terminal_checks import characters, colours


def patient(home: Path, **environment: str) -> CheckContext:
    return CheckContext(environment={"HOME": str(home), **environment}, cwd=home)


async def findings(*checks: Check, home: Path) -> list[Finding]:
    return [found async for _, found in examine(checks, patient(home))]


async def test_a_check_that_fails_is_a_finding_and_the_others_go_on(tmp_path: Path) -> None:
    def breaks(_: CheckContext) -> Finding:
        raise ValueError("out of order")

    async def breaks_later(_: CheckContext) -> Finding:
        raise OSError("gone")

    found = await findings(
        Check("files", "one", breaks),
        Check("files", "two", breaks_later),
        Check("files", "three", lambda _: ok("fine")),
        home=tmp_path,
    )
    assert [each.verdict for each in found] == ["problem", "problem", "ok"]
    assert "out of order" in found[0].measured


async def test_a_check_that_hangs_is_left_behind(tmp_path: Path) -> None:
    never = threading.Event()

    def hangs(_: CheckContext) -> Finding:
        never.wait()
        return ok("late")

    found = await findings(Check("files", "slow", hangs, seconds=0.05), home=tmp_path)
    never.set()
    assert found[0].verdict == "problem"
    assert "timed out" in found[0].measured


def test_every_check_has_its_group_and_a_name_of_its_own() -> None:
    names = [(check.group, check.name) for check in all_checks()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("environment", "verdict"),
    [
        ({"TERM": "xterm-256color", "LANG": "de_DE.UTF-8"}, ("ok", "ok")),
        ({"TERM": "vt100", "LANG": "C"}, ("warning", "warning")),
        ({"TERM": "vt100", "COLORTERM": "truecolor", "LC_ALL": "C.utf8"}, ("ok", "ok")),
        ({"TERM": "vt100", "NO_COLOR": "1", "LC_ALL": "C", "LANG": "C.utf8"}, ("ok", "warning")),
    ],
)
def test_colours_and_characters_are_read_from_the_environment(
    tmp_path: Path, environment: dict[str, str], verdict: tuple[str, str]
) -> None:
    given = patient(tmp_path, **environment)
    assert (colours(given).verdict, characters(given).verdict) == verdict


def test_a_key_that_the_model_needs_is_missed_by_name(tmp_path: Path) -> None:
    given = {"AGENT_MODEL": "anthropic/claude-sonnet-4-5"}
    missing = keys(patient(tmp_path, OPENAI_API_KEY="sk-secret", **given))
    assert missing.verdict == "problem"
    assert missing.measured == "OPENAI_API_KEY"
    assert missing.expected == "ANTHROPIC_API_KEY"
    there = keys(patient(tmp_path, ANTHROPIC_API_KEY="sk-secret", **given))
    assert (there.verdict, there.measured) == ("ok", "ANTHROPIC_API_KEY")


def test_a_setting_nobody_knows_is_told_with_its_file(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "agent"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('modell = "x"\n')
    found = configuration(patient(tmp_path))
    assert found.verdict == "problem"
    assert "modell" in found.measured


def test_a_file_that_others_can_read_is_found(tmp_path: Path) -> None:
    state = tmp_path / ".local" / "state" / "agent"
    state.mkdir(parents=True)
    assert permissions(patient(tmp_path)).verdict == "ok"
    (state / "audit.jsonl").touch(mode=0o644)
    (tmp_path / ".local" / "state" / "agent" / "audit.jsonl").chmod(0o644)
    for folder in (state, *list(state.parents)[:3]):
        folder.chmod(0o755)
    found = permissions(patient(tmp_path))
    assert found.verdict == "problem"
    assert "audit.jsonl" in found.measured
    assert found.remedy.startswith("chmod ")
    state.chmod(0o700)
    assert permissions(patient(tmp_path)).verdict == "ok", "nobody gets to it any more"


def test_mcp_servers_are_looked_at_without_being_started(tmp_path: Path) -> None:
    assert servers(patient(tmp_path)).verdict == "skipped"
    file = tmp_path / ".mcp.json"
    file.write_text(
        '{"mcpServers": {"shell": {"command": "sh"}, "web": {"url": "https://x.y/mcp"}}}'
    )
    found = servers(patient(tmp_path))
    assert found.verdict == "ok"
    assert "shell, web" in found.measured
    file.write_text('{"mcpServers": {"gone": {"command": "no-such-program-here"}}}')
    assert "no-such-program-here" in servers(patient(tmp_path)).measured
    file.write_text("{")
    assert servers(patient(tmp_path)).verdict == "problem"
