"""Receipts and checkpoints as a person and a script meet them."""

import json

from tests.kit.program import Program


def bash(command: str) -> dict[str, object]:
    return {"calls": [{"name": "Bash", "arguments": {"command": command}}]}


def run(program: Program, command: str, *flags: str) -> tuple[str, str]:
    model = program.script(bash(command), {"text": "ok"})
    done = program.run("-p", "go", "--model", model, "--permission-mode", "yolo", "--trust", *flags)
    assert done.code == 0, done.err
    return done.out, done.err


def test_the_receipt_goes_to_standard_error(program: Program) -> None:
    out, err = run(program, "seq 3 > a.txt")
    assert out == "ok\n"
    assert "1 file changed by shell +3 −0" in err
    out, err = run(program, "true")
    assert "changed" not in err


def test_the_json_result_carries_the_receipt(program: Program) -> None:
    out, _ = run(program, "seq 3 > a.txt", "--output-format", "json")
    (file,) = json.loads(out)["receipt"]["files"]
    assert (file["path"], file["verb"], file["by"], file["added"]) == (
        "a.txt", "created", "shell", 3,
    )  # fmt: skip


def test_checkpoints_are_listed_and_pruned(program: Program) -> None:
    run(program, "seq 3 > a.txt")
    run(program, "seq 4 > a.txt; seq 5 > b.txt")
    listed = program.run("checkpoints", "--json").events
    assert [each["checkpoints"] for each in listed] == [1, 1]
    assert not any(each["in_use"] for each in listed)
    text = program.run("checkpoints").out
    assert "2 sessions" in text
    first, second = (each["session_id"] for each in listed)
    assert program.run("checkpoints", "prune", "--session", first).code == 0
    assert program.run("checkpoints", "prune", "--older", "1").code == 0
    left = program.run("checkpoints", "--json").events
    assert [each["session_id"] for each in left] == [second]
    done = program.run("checkpoints", "prune")
    assert "0 B left" in done.out
    assert program.run("checkpoints", "--json").events == []
    assert program.run("checkpoints", "prune", "--session", "none").code == 2


def test_checkpoints_can_be_switched_off(program: Program) -> None:
    config = program.home / ".config" / "agent" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[checkpoints]\nenabled = false\n")
    _, err = run(program, "seq 3 > a.txt")
    assert "changed" not in err
    assert program.run("checkpoints", "--json").out == ""
