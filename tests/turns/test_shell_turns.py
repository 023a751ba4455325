"""What one command leaves in the shell decides whether the next one is asked about."""

from typing import Any

import pytest

from agent_cli.core.events import ApprovalAsked, ToolProgress
from agent_cli.core.inbox import Approval
from agent_cli.core.messages import ToolMessage
from tests.kit.sessions import SceneMaker, of_type, results


def bash(command: str, id: str, **more: Any) -> dict[str, Any]:
    return {"calls": [{"id": id, "name": "Bash", "arguments": {"command": command, **more}}]}


async def test_ls_runs_unasked_while_it_means_ls(make_session: SceneMaker) -> None:
    scene = make_session(bash("ls", "a"), bash("cd sub", "b"), bash("ls", "c"), {"text": "ok"},
                         files={"sub/inside": ""})  # fmt: skip
    events = await scene.play(answer=lambda _: Approval(answer="once"))
    assert "a" not in [event.request.call_id for event in of_type(events, ApprovalAsked)]
    assert "c" not in [event.request.call_id for event in of_type(events, ApprovalAsked)]
    assert str(results(events)["c"].result.llm_content) == "inside"


@pytest.mark.parametrize(
    "poison",
    [
        "ls() { touch pwned; }",
        "alias ls='touch pwned'",
        "mkdir bin; printf '#!/bin/sh\\ntouch pwned\\n' >bin/ls; chmod +x bin/ls; PATH=$PWD/bin:$PATH",
        "export GIT_EXTERNAL_DIFF=./evil",
        "export LD_PRELOAD=./evil.so",
    ],
)
async def test_a_poisoned_word_is_asked_about(make_session: SceneMaker, poison: str) -> None:
    scene = make_session(bash(poison, "a"), bash("ls", "b"), {"text": "ok"})

    def answer(event: ApprovalAsked) -> Approval:
        return Approval(answer="once" if event.request.call_id == "a" else "no")

    events = await scene.play(answer=answer)
    assert [event.request.call_id for event in of_type(events, ApprovalAsked)] == ["a", "b"]
    assert not (scene.workspace / "pwned").exists()


async def test_output_reaches_the_person_and_then_the_model(make_session: SceneMaker) -> None:
    scene = make_session(bash("echo shown; echo oops >&2; exit 3", "a"), {"text": "ok"})
    events = await scene.play(answer=lambda _: Approval(answer="once"))
    assert "".join(event.text for event in of_type(events, ToolProgress)) == "shown\noops\n"
    told = scene.model.requests[1].messages[-1]
    assert isinstance(told, ToolMessage)
    assert str(told.content).startswith("shown\noops\n[exit 3 after ")
    assert results(events)["a"].result.summary.startswith("exit 3 after ")


async def test_whole_outputs_lie_where_reading_needs_no_question(
    make_session: SceneMaker,
) -> None:
    scene = make_session(bash("seq 1 100000", "a"), {"text": "ok"})
    events = await scene.play(answer=lambda _: Approval(answer="once"))
    result = results(events)["a"].result
    path = str(result.metadata["output_file"])
    assert path in str(result.llm_content)
    workspace = scene.session.workspace
    assert workspace.is_own_output(workspace.resolve(path).real)


async def test_background_jobs_end_with_the_session(make_session: SceneMaker) -> None:
    from agent_cli.lib import sweep
    from agent_cli.lib.watchdog import mark_of

    scene = make_session(
        bash("setsid sleep 1000", "a", run_in_background=True),
        {"calls": [{"id": "b", "name": "BashOutput", "arguments": {"shell_id": "bash_1"}}]},
        {"text": "ok"},
    )
    events = await scene.play(answer=lambda _: Approval(answer="once"))
    assert "bash_1: running" in str(results(events)["b"].result.llm_content)
    mark = mark_of(scene.session.id)
    assert sweep.find(mark)
    await scene.session.close()
    assert sweep.find(mark) == []


async def test_after_activating_an_environment_rules_and_proofs_hold(
    make_session: SceneMaker,
) -> None:
    files = {
        ".venv/bin/activate": "deactivate() { :; }\nPATH=$PWD/.venv/bin:$PATH\nPS1='(venv) '\n",
        ".venv/bin/tool": "#!/bin/sh\necho from the project\n",
        ".venv/bin/grep": "#!/bin/sh\ntouch pwned\n",
    }
    scene = make_session(
        bash("source .venv/bin/activate; chmod +x .venv/bin/*", "a"),
        bash("tool x", "b"),
        bash("ls", "c"),
        bash("grep x y", "d"),
        bash("egrep x y", "e"),
        bash("deactivate", "f"),
        {"text": "ok"},
        files=files,
        settings={"permissions": {"allow": ["Bash(tool *)", "Bash(deactivate)"]}},
    )

    def answer(event: ApprovalAsked) -> Approval:
        return Approval(answer="once" if event.request.call_id == "a" else "no")

    events = await scene.play(answer=answer)
    asked = [event.request.call_id for event in of_type(events, ApprovalAsked)]
    assert asked == ["a", "d", "e", "f"]
    assert str(results(events)["b"].result.llm_content) == "from the project"
    assert not (scene.workspace / "pwned").exists()


@pytest.mark.parametrize("disguise", ["l's'", "l\\s", '"ls"', "timeout 5 ls", "true && ls"])
async def test_a_function_is_found_behind_every_spelling_of_its_name(
    make_session: SceneMaker, disguise: str
) -> None:
    scene = make_session(bash("ls() { touch pwned; }", "a"), bash(disguise, "b"), {"text": "ok"})

    def answer(event: ApprovalAsked) -> Approval:
        return Approval(answer="once" if event.request.call_id == "a" else "no")

    events = await scene.play(answer=answer)
    assert [event.request.call_id for event in of_type(events, ApprovalAsked)] == ["a", "b"]
    assert not (scene.workspace / "pwned").exists()
