"""`agent -p` as scripts use it: output, exit codes, errors, signals."""

import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.kit.model_server import Call, Reply, Stall, running_server
from tests.kit.program import Program, children_of, processes_with, wait_until

READS = {"text": "Looking.", "calls": [{"name": "Read", "arguments": {"file_path": "a.txt"}}]}
TOUCHES = {"calls": [{"name": "Bash", "arguments": {"command": "touch made"}}]}
COLD = {"XDG_RUNTIME_DIR": "/nowhere"}
"""Where no warm process is found: the worker is the program's child."""


def test_the_answer_alone_is_on_standard_output(program: Program) -> None:
    (program.workspace / "a.txt").write_text("hello\n")
    done = program.run("-p", "go", "--model", program.script(READS, {"text": "It says hello."}))
    assert done.code == 0
    assert done.out == "It says hello.\n"
    assert done.err == ""


def test_json_is_one_object(program: Program) -> None:
    model = program.script({"text": "ok", "usage": {"input_tokens": 7, "cost": 0.25}})
    done = program.run("-p", "go", "--model", model, "--output-format", "json")
    (result,) = done.events
    assert result["text"] == "ok"
    assert result["reason"] == "done"
    assert result["usage"]["cost"] == 0.25


def test_a_person_is_told_in_their_language_and_a_program_in_english(program: Program) -> None:
    chinese = {"LANG": "zh_CN.UTF-8"}
    for form in ("text", "json", "stream-json"):
        model = program.script(TOUCHES, {"text": "ok"})
        asked = ("-p", "go", "--model", model, "--output-format", form)
        done = program.run(*asked, environment=chinese)
        assert done.code == 4
        assert ("批准" in done.err) == (form == "text")
        assert not re.search(r"[\u4e00-\u9fff]", done.out)


def test_stream_json_is_one_event_per_line(program: Program) -> None:
    (program.workspace / "a.txt").write_text("hello\n")
    model = program.script(READS, {"text": "ok"})
    done = program.run("-p", "go", "--model", model, "--output-format", "stream-json")
    types = [event["type"] for event in done.events]
    assert types[0] == "turn_started"
    assert types[-1] == "turn_finished"
    assert {"text_delta", "tool_started", "tool_finished", "usage_changed"} <= set(types)


def test_the_prompt_comes_from_standard_input(program: Program) -> None:
    model = program.script({"text": "ok"})
    stream = ("--model", model, "--output-format", "stream-json")
    assert program.run("-p", "-", *stream, stdin="from a pipe").events[0]["prompt"] == "from a pipe"
    added = program.run("-p", "explain", *stream, stdin="the log").events[0]["prompt"]
    assert added == "explain\n\nthe log"


def test_a_pipe_in_which_nothing_comes_is_not_waited_for(program: Program) -> None:
    process = program.start(
        "-p", "go", "--model", program.script({"text": "ok"}), stdin=subprocess.PIPE
    )
    assert process.wait(30) == 0
    out, err = process.communicate()
    assert out == "ok\n"
    assert "No input on stdin; continuing without it." in err


def test_escape_sequences_do_not_reach_standard_error(program: Program) -> None:
    error = {"error": {"kind": "not_found", "message": "\x1b]52;c;AAAA\x07gone \x1b[2J"}}
    done = program.run("-p", "go", "--model", program.script(error))
    assert "gone" in done.err
    assert "\x1b" not in done.err


def test_without_a_prompt_it_says_how_to_give_one(program: Program) -> None:
    done = program.run("-p", "-", "--model", program.script(), stdin="  ")
    assert done.code == 2
    assert "no prompt" in done.err


def test_what_needs_a_permission_exits_with_4(program: Program) -> None:
    done = program.run("-p", "go", "--model", program.script(TOUCHES, {"text": "I could not."}))
    assert done.code == 4
    assert done.out == "I could not.\n"
    assert "--allow" in done.err
    assert not (program.workspace / "made").exists()


@pytest.mark.parametrize(
    "flags", [("--permission-mode", "yolo"), ("--allow", "Bash(touch made)"), ("--allow", "Bash")]
)
def test_a_mode_or_a_rule_gives_the_permission(program: Program, flags: tuple[str, str]) -> None:
    done = program.run("-p", "go", "--model", program.script(TOUCHES, {"text": "Done."}), *flags)
    assert done.code == 0, done.err
    assert (program.workspace / "made").exists()


def test_a_deny_rule_beats_an_allow_rule(program: Program) -> None:
    model = program.script(TOUCHES, {"text": "Done."})
    program.run("-p", "go", "--model", model, "--allow", "Bash", "--deny", "Bash(touch *)")
    assert not (program.workspace / "made").exists()


def test_a_limit_exits_with_3(program: Program) -> None:
    model = program.script(*[{**READS, "text": str(n)} for n in range(9)])
    done = program.run("-p", "go", "--model", model, "--max-steps", "2")
    assert done.code == 3
    assert "2 steps" in done.err


def test_a_temporary_failure_exits_with_75(program: Program) -> None:
    error = {"error": {"kind": "rate_limit", "message": "slow down", "retry_after": 9999}}
    assert program.run("-p", "go", "--model", program.script(error)).code == 75


def test_a_failure_exits_with_1(program: Program) -> None:
    error = {"error": {"kind": "not_found", "message": "no such model"}}
    done = program.run("-p", "go", "--model", program.script(error))
    assert done.code == 1
    assert "no such model" in done.err


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGHUP])
def test_an_interrupt_exits_with_130(program: Program, sent: signal.Signals) -> None:
    temporary = program.home / "tmp"
    temporary.mkdir()
    model = program.script({"text": "half", "hang": True})
    process = program.start(
        "-p", "go", "--model", model, "--output-format", "stream-json",
        environment={"TMPDIR": str(temporary)},
    )  # fmt: skip
    assert process.stdout is not None
    for line in process.stdout:
        if "text_delta" in line:
            process.send_signal(sent)
            break
    rest = process.stdout.read()
    assert process.wait(20) == 130
    assert '"reason":"interrupted"' in rest
    assert list(temporary.iterdir()) == []
    process.communicate()


def test_nohup_keeps_it_from_hearing_that_its_terminal_is_gone(program: Program) -> None:
    model = program.script({"text": "half", "hang": True})
    process = program.start(
        "-p", "go", "--model", model, "--output-format", "stream-json",
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )  # fmt: skip
    assert process.stdout is not None
    for line in process.stdout:
        if "text_delta" in line:
            break
    status = Path(f"/proc/{process.pid}/status").read_text()
    (ignored,) = [line.split()[1] for line in status.splitlines() if line.startswith("SigIgn:")]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=90)
    assert int(ignored, 16) & 1 << (signal.SIGHUP - 1)


def test_an_answer_in_the_shape_of_a_schema(program: Program) -> None:
    schema = program.home / "schema.json"
    number = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    schema.write_text(json.dumps(number))
    model = program.script({"text": "it is 3"}, {"text": '```json\n{"n": 3}\n```'})
    done = program.run("-p", "count", "--model", model, "--json-schema", str(schema))
    assert done.code == 0
    assert json.loads(done.out) == {"n": 3}
    never = program.script(*[{"text": "no"}] * 5)
    done = program.run("-p", "count", "--model", never, "--json-schema", str(schema))
    assert done.code == 1
    assert "schema" in done.err


def test_several_turns_and_an_approval_by_id(program: Program) -> None:
    model = program.script(TOUCHES, {"text": "made"}, {"text": "second"})
    process = program.start(
        "--model", model, "--input-format", "stream-json", "--output-format", "stream-json",
        stdin=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None

    def say(**line: object) -> None:
        process.stdin.write(json.dumps(line) + "\n")
        process.stdin.flush()

    say(type="prompt", text="one")
    finished = []
    for text in process.stdout:
        event = json.loads(text)
        if event["type"] == "approval_asked":
            assert event["request"]["preview"]["command"] == "touch made"
            say(type="reply", id=event["request"]["id"], answer="once")
        if event["type"] == "turn_finished":
            finished.append(event["text"])
            if len(finished) == 1:
                say(type="nonsense")
                say(type="prompt", text="two")
            else:
                process.stdin.close()
    assert process.wait(20) == 0
    assert finished == ["made", "second"]
    assert (program.workspace / "made").exists()
    assert "Invalid line of input" in process.stderr.read()
    process.stdout.close()
    process.stderr.close()


def test_lines_of_input_can_come_from_a_file(program: Program) -> None:
    lines = program.home / "lines.jsonl"
    prompts = [{"type": "prompt", "text": "one"}, {"type": "prompt", "text": "two"}]
    lines.write_text("\n".join(map(json.dumps, prompts)))
    model = program.script({"text": "first"}, {"text": "second"})
    with lines.open() as file:
        process = program.start("--model", model, "--input-format", "stream-json", stdin=file)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "first\nsecond\n", "")


def test_what_would_ask_is_blocked_when_no_more_lines_can_answer(program: Program) -> None:
    model = program.script(TOUCHES, {"text": "Then not."})
    line = json.dumps({"type": "prompt", "text": "go"})
    done = program.run("--model", model, "--input-format", "stream-json", stdin=f"{line}\n")
    assert done.out == "Then not.\n"
    assert not (program.workspace / "made").exists()
    flags = ("--input-format", "stream-json", "--output-format", "stream-json")
    model = program.script(TOUCHES, {"text": "Then not."})
    streamed = program.run("--model", model, *flags, stdin=f"{line}\n")
    assert streamed.events[-1]["denials"] == 1
    assert "nobody is there to ask" in streamed.out
    assert "The user declined" not in streamed.out
    assert (streamed.code, done.code) == (4, 4), "as with -p"


def test_our_own_commands_need_somebody_to_talk_to(program: Program) -> None:
    folder = program.workspace / ".agent" / "commands"
    folder.mkdir(parents=True)
    (folder / "undo.md").write_text("Say what undo means.\n")
    (folder / "greet.md").write_text("Greet $ARGUMENTS.\n")
    model = program.script({"text": "ok"})
    flags = ("--trust", "--model", model, "--output-format", "stream-json")
    done = program.run("-p", "/undo", *flags)
    assert (done.code, done.out) == (2, "")
    assert done.err == "agent: /undo needs an interactive session.\n"
    greeted = program.run("-p", "/greet the world", *flags)
    assert greeted.code == 0
    assert greeted.events[0]["type"] == "turn_started"
    assert "prompt_added" not in [e["type"] for e in greeted.events]
    assert "Greet the world." in next(program.home.rglob("sessions/**/*.jsonl")).read_text()
    unknown = program.run("-p", "/etc/hosts is odd", *flags)
    assert unknown.events[0]["prompt"] == "/etc/hosts is odd"
    lines = "".join(f"{json.dumps({'type': 'prompt', 'text': t})}\n" for t in ("hi", "/quit"))
    done = program.run("--input-format", "stream-json", *flags, stdin=lines)
    assert done.code == 2
    assert done.events[-1]["type"] == "turn_finished"
    assert "error: /quit needs an interactive session." in done.err


def test_nobody_reads_any_more_and_the_turn_ends(program: Program) -> None:
    marker = f"97{os.getpid()}"
    sleeps = {"calls": [{"name": "Bash", "arguments": {"command": f"sleep {marker}"}}]}
    model = program.script({"text": "word " * 20, "pieces": 20, "delay": 0.05, **sleeps})
    process = program.start(
        "-p", "go", "--model", model, "--output-format", "stream-json",
        "--permission-mode", "yolo",
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(60) == 1
    assert not processes_with(marker)
    assert process.stderr is not None
    process.stderr.close()


def test_only_the_tools_that_were_named(program: Program) -> None:
    model = program.script(TOUCHES, {"text": "ok"})
    done = program.run(
        "-p", "go", "--model", model, "--tools", "Read", "--permission-mode", "yolo",
        "--output-format", "stream-json",
    )  # fmt: skip
    (result,) = [e["result"] for e in done.events if e["type"] == "tool_finished"]
    assert "not available" in result["llm_content"]
    done = program.run("-p", "go", "--model", model, "--tools", "Nope")
    assert done.code == 2
    assert "Read" in done.err


def test_a_directory_given_and_one_added(program: Program, tmp_path: Path) -> None:
    other, added = tmp_path / "other", tmp_path / "added"
    other.mkdir()
    added.mkdir()
    (other / "a.txt").write_text("in other\n")
    (added / "b.txt").write_text("in added\n")
    paths = (other / "a.txt", added / "b.txt", "/etc/hostname")
    reads = [{"name": "Read", "arguments": {"file_path": str(path)}} for path in paths]
    model = program.script({"calls": reads}, {"text": "ok"})
    done = program.run(
        "-p", "go", "--model", model, "--cwd", str(other), "--add-dir", str(added),
        "--output-format", "stream-json",
    )  # fmt: skip
    results = [e["result"]["success"] for e in done.events if e["type"] == "tool_finished"]
    assert sorted(results) == [False, True, True]


# ── errors a person can put right ─────────────────────────────────────────────────────────────────


def test_without_a_model_it_says_how_to_choose_one(program: Program) -> None:
    done = program.run("-p", "hi")
    assert done.code == 2
    assert "--model" in done.err
    assert "Traceback" not in done.err


def test_without_a_key_it_names_the_variable_at_once(program: Program) -> None:
    done = program.run("-p", "hi", "--model", "anthropic/claude-sonnet-4-5")
    assert done.code == 2
    assert "ANTHROPIC_API_KEY" in done.err


def test_a_fallback_without_a_key_is_told_and_stops_nothing(program: Program) -> None:
    file = program.home / ".config/agent/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('fallback_models = ["anthropic/claude-sonnet-4-5"]\n')
    done = program.run("-p", "hi", "--model", program.script({"text": "still here"}))
    assert done.code == 0
    assert "still here" in done.out
    assert "fallback model cannot be used" in done.err


def test_a_wrong_key_is_told_and_not_shown(program: Program) -> None:
    key = "sk-ant-api03-ThisIsNotARealKey0123456789"
    from tests.kit.failures import unauthorized

    with running_server(unauthorized()) as server:
        done = program.run(
            "-p", "hi", "--model", "anthropic/claude-sonnet-4-5", "--api-base", server.url,
            environment={"ANTHROPIC_API_KEY": key},
        )  # fmt: skip
    assert done.code == 1
    assert "ANTHROPIC_API_KEY" in done.err
    assert key not in done.out + done.err
    for path in program.home.rglob("*"):
        assert path.is_dir() or key.encode() not in path.read_bytes()


def test_no_network_is_a_temporary_failure(program: Program) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    done = program.run(
        "-p", "hi", "--model", "openai/gpt-4o", "--api-base", f"http://127.0.0.1:{port}/v1",
        environment={"AGENT_LIMITS_RETRIES": "1"},
    )  # fmt: skip
    assert done.code == 75
    assert "Check the network" in done.err


def test_an_unknown_model_is_told(program: Program) -> None:
    from tests.kit.failures import unknown_model

    with running_server(unknown_model()) as server:
        done = program.run("-p", "hi", "--model", "openai/gpt-9", "--api-base", f"{server.url}/v1")
    assert done.code == 1
    assert "--model" in done.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model = [", "not valid TOML"),
        ("modle = 'x'", "Did you mean mode or model?"),
        ("[limits]\nsteps = 'many'", "limits.steps"),
        ("mode = 'careless'", "'default', 'accept-edits', 'plan', 'auto' or 'yolo'"),
        ("[permissions]\nallow = ['Bash(']", "such as Bash(git log *) or Edit(docs/**).\n"),
    ],
)
def test_a_malformed_configuration_is_explained(program: Program, text: str, words: str) -> None:
    config = program.home / ".config" / "agent" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(text)
    done = program.run("-p", "hi", "--model", program.script({"text": "ok"}))
    assert done.code == 2
    assert str(config) in done.err
    assert words in done.err
    assert "Traceback" not in done.err


def test_a_home_that_cannot_be_written_only_warns(program: Program) -> None:
    (program.workspace / "a.txt").write_text("hello\n")
    done = program.run(
        "-p", "go", "--model", program.script(READS, {"text": "ok"}),
        environment={"XDG_STATE_HOME": "/proc/nowhere"},
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.out == "ok\n"
    assert "audit log cannot be written" in done.err
    assert "Traceback" not in done.err


def test_config_lists_every_setting_though_one_is_wrong(program: Program) -> None:
    file = program.home / ".config/agent/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('modell = "x"\n')
    done = program.run("config")
    assert done.code == 2
    assert "modell is not a setting" in done.err
    assert "\nsandbox " in done.out


def test_config_shows_each_value_and_its_layer(program: Program) -> None:
    config = program.home / ".config" / "agent" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('model = "openai/from-file"\n[limits]\nsteps = 7\n')
    done = program.run("config", "--max-cost", "2", environment={"AGENT_FAST_MODEL": "x/y"})
    assert done.code == 0
    lines = {line.split()[0]: line for line in done.out.splitlines() if line[:1] != "#"}
    assert str(config) in lines["model"]
    assert lines["limits.steps"].split()[1] == "7"
    assert lines["fast_model"].endswith("environment")
    assert lines["budget.session"].endswith("command line")
    assert lines["limits.retries"].endswith("default")


# ── nothing stays behind ──────────────────────────────────────────────────────────────────────────


def test_keys_reach_neither_commands_nor_the_workers_environment(program: Program) -> None:
    key = "sk-proj-CanaryCanaryCanary0123456789"
    with running_server(
        Reply(calls=[Call("Bash", {"command": "env"})]),
        Stall(Reply("wait"), at=1),
    ) as server:
        process = program.start(
            "-p", "hi", "--model", "openai/gpt-4o", "--api-base", f"{server.url}/v1",
            "--permission-mode", "yolo", "--output-format", "stream-json",
            environment={"OPENAI_API_KEY": key, "MY_SERVICE_TOKEN": "abc123def456ghi789"},
        )  # fmt: skip
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if "tool_finished" in line:
                for pid in (process.pid, *children_of(process.pid)):
                    assert key.encode() not in Path(f"/proc/{pid}/environ").read_bytes()
            if '"text_delta"' in line:
                break
        assert "PATH=" in said
        assert key not in said
        assert "abc123def456ghi789" not in said
        assert server.requests[0].headers["authorization"] == f"Bearer {key}"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=90)


@pytest.mark.parametrize("moment", ["start", "request", "tool"])
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_nothing_survives_the_program(program: Program, moment: str, sent: signal.Signals) -> None:
    marker = f"98{os.getpid()}{ord(moment[0])}{int(sent)}"
    with running_server(
        Stall(Reply("thinking"), at=1)
        if moment == "request"
        else Reply(calls=[Call("Bash", {"command": f"sleep {marker}"})])
    ) as server:
        process = program.start(
            "-p", "hi", "--model", "openai/gpt-4o", "--api-base", f"{server.url}/v1",
            "--permission-mode", "yolo", environment=COLD,
        )  # fmt: skip
        wait_until(lambda: children_of(process.pid))
        worker = children_of(process.pid)[0]
        if moment == "request":
            wait_until(lambda: server.requests)
        elif moment == "tool":
            wait_until(lambda: processes_with(marker))
        process.send_signal(sent)
        process.communicate(timeout=90)
        wait_until(lambda: not Path(f"/proc/{worker}").exists())
        wait_until(lambda: not processes_with(marker))
    expected = -signal.SIGKILL if sent == signal.SIGKILL else 130
    assert process.returncode == expected


def test_a_plan_is_answered_by_id(program: Program) -> None:
    present = {"calls": [{"name": "ExitPlanMode", "arguments": {"plan": "1. touch made"}}]}
    model = program.script(present, {"text": "over"})
    process = program.start(
        "--model", model, "--permission-mode", "plan",
        "--input-format", "stream-json", "--output-format", "stream-json",
        stdin=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"type": "prompt", "text": "plan it"}) + "\n")
    process.stdin.flush()
    modes = []
    for text in process.stdout:
        event = json.loads(text)
        if event["type"] == "plan_asked":
            assert event["request"]["plan"] == "1. touch made"
            line = {"type": "reply", "id": event["request"]["id"], "answer": "accept-edits"}
            process.stdin.write(json.dumps(line) + "\n")
            process.stdin.flush()
        if event["type"] == "plan_answered":
            modes.append(event["mode"])
        if event["type"] == "turn_finished":
            process.stdin.close()
    assert process.wait(20) == 0
    assert modes == ["accept-edits"]
    process.stdout.close()
    assert process.stderr is not None
    process.stderr.close()


def test_a_stray_file_among_the_sessions_does_not_matter(program: Program) -> None:
    first = program.run("-p", "go", "--model", program.script({"text": "one"}))
    assert first.code == 0
    (log,) = program.home.rglob("sessions/*.jsonl")
    (log.parent / "pruned").unlink()
    stray = log.with_name("abc.bak.jsonl")
    stray.write_text("")
    os.utime(stray, (0, 0))
    done = program.run("-p", "go", "--model", program.script({"text": "two"}))
    assert (done.code, done.out, done.err) == (0, "two\n", "")


def test_input_that_cannot_be_read_is_a_failure(program: Program) -> None:
    model = program.script({"text": "hi"})
    with (program.home / "closed").open("w") as write_only:
        process = program.start(
            "--input-format", "stream-json", "--output-format", "stream-json", "--model", model,
            stdin=write_only,
        )  # fmt: skip
        process.communicate(timeout=60)
    assert process.returncode == 1
