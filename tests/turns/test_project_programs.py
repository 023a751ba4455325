"""A project's own programs on the search path, such as an activated virtual environment."""

from agent_cli.core.events import ApprovalAsked, ToolFinished
from agent_cli.core.inbox import Approval
from tests.kit.sessions import SceneMaker, of_type

LS = {"calls": [{"name": "Bash", "arguments": {"command": "ls"}}]}


def with_programs(make_session: SceneMaker, *names: str, trust: bool = True):  # type: ignore[no-untyped-def]
    bin_directory = make_session.workspace / ".venv" / "bin"
    bin_directory.mkdir(parents=True)
    for name in names:
        program = bin_directory / name
        program.write_text("#!/bin/sh\necho from the project\n")
        program.chmod(0o755)
    path = {"PATH": f"{bin_directory}:/usr/bin:/bin"}
    run = {"calls": [{"name": "Bash", "arguments": {"command": "mytool"}}]}
    return make_session(run, LS, {"text": "ok"}, environment=path, trust=trust)


async def test_they_can_be_run_in_a_trusted_folder(make_session: SceneMaker) -> None:
    scene = with_programs(make_session, "mytool")
    events = await scene.play(answer=lambda _: Approval(answer="once"))
    assert "from the project" in str(of_type(events, ToolFinished)[0].result.llm_content)


async def test_a_harmless_name_is_not_harmless_when_the_project_brings_its_own(
    make_session: SceneMaker,
) -> None:
    scene = with_programs(make_session, "mytool", "ls")
    events = await scene.play(answer=lambda _: Approval(answer="no"))
    asked = of_type(events, ApprovalAsked)
    assert len(asked) == 2
    assert "`ls` is a program of this project" in " ".join(map(str, asked[1].request.reasons))


async def test_in_a_folder_that_is_not_trusted_they_are_not_found(
    make_session: SceneMaker,
) -> None:
    scene = with_programs(make_session, "mytool", trust=False)
    events = await scene.play(answer=lambda _: Approval(answer="once"))
    assert "not found" in str(of_type(events, ToolFinished)[0].result.llm_content)
