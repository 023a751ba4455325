"""Profiles and agents in the real program."""

from tests.kit.program import Program


def test_an_agent_is_sent_with_a_profile_of_ones_own(program: Program) -> None:
    agents = program.home / ".config" / "agent" / "agents"
    agents.mkdir(parents=True)
    other = program.script({"text": "found it", "usage": {"input_tokens": 9, "cost": 0.25}})
    (agents / "finder.md").write_text(f"---\nmodel: {other}\ntools: Glob\n---\nFind.\n")
    agent_task = {"description": "look", "prompt": "look", "profile": "finder"}
    model = program.script({"calls": [{"name": "Task", "arguments": agent_task}]}, {"text": "done"})
    done = program.run("-p", "go", "--model", model, "--output-format", "stream-json")
    assert done.code == 0
    (result,) = (e["result"] for e in done.events if e["type"] == "tool_finished")
    assert "found it" in result["llm_content"]
    assert done.events[-1]["usage"]["cost"] == 0.25


def test_the_profile_of_the_command_line_holds_from_the_first_request(program: Program) -> None:
    write = {"name": "Write", "arguments": {"file_path": "new", "content": "x"}}
    model = program.script({"calls": [write]}, {"text": "done"})
    flags = ("--model", model, "--permission-mode", "yolo", "--output-format", "stream-json")
    done = program.run("-p", "go", "--trust", "--profile", "review", *flags)
    (result,) = (e["result"] for e in done.events if e["type"] == "tool_finished")
    assert "'Write' is not available here" in result["llm_content"]
    assert not (program.workspace / "new").exists()
    wrong = program.run("-p", "go", "--profile", "nobody", "--model", model)
    assert wrong.code == 2
    assert "The profiles are: default, plan, review." in wrong.err
