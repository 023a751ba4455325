"""A yes is for what was shown: what has changed by the time of the answer is asked again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.events import ApprovalAsked
from agent_cli.core.inbox import Approval
from tests.kit.sessions import SceneMaker, of_type, results


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"name": "Bash", "arguments": {"command": command}}]}


def swap(workspace: Path, outside: Path) -> None:
    """`sub` leads to the outside from now on."""
    (workspace / "sub").rename(workspace / "moved")
    (workspace / "sub").symlink_to(outside)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    made = tmp_path / "outside"
    (made / "data").mkdir(parents=True)
    (made / "data" / "key").write_text("precious")
    (made / "f").write_text("precious")
    (made / "data" / "key").chmod(0o600)
    return made


def state(folder: Path) -> dict[str, tuple[int, str]]:
    return {
        str(path): (path.stat().st_mode, path.read_text() if path.is_file() else "")
        for path in folder.rglob("*")
    }


COMMANDS = [
    "rm -rf sub/data", "chmod -R 777 sub/data", "echo EVIL > sub/f", "mv sub/f elsewhere",
    "cp other sub/f", "sed -i s/p/q/ sub/f", "cd sub && rm -rf data", "find sub -name key -delete",
    "truncate -s 0 sub/f", "python3 sub/f",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
async def test_a_link_swapped_before_the_answer_is_asked_about_again(
    make_session: SceneMaker, outside: Path, command: str
) -> None:
    files = {"sub/data/key": "x", "sub/f": "x", "other": "EVIL"}
    scene = make_session(bash(command), {"text": "."}, files=files)
    before = state(outside)

    def answer(event: ApprovalAsked) -> Approval:
        first = not (scene.workspace / "sub").is_symlink()
        if first:
            swap(scene.workspace, outside)
        return Approval(answer="once" if first else "no")

    asked = of_type(await scene.play(answer=answer), ApprovalAsked)
    assert state(outside) == before
    assert len(asked) == 2
    assert asked[0].request.id != asked[1].request.id
    assert "/outside" in str(asked[1].request)  # long paths are shortened in the middle
    assert "since you were asked" in str(asked[1].request.reasons[0])


async def test_what_is_the_same_is_asked_once_and_a_second_yes_counts(
    make_session: SceneMaker, outside: Path
) -> None:
    files = {"sub/data/key": "x", "sub/f": "x"}
    scene = make_session(bash("rm -rf sub/data"), {"text": "."}, files=files)
    asked = of_type(await scene.play(answer=lambda _: Approval(answer="once")), ApprovalAsked)
    assert len(asked) == 1
    assert not (scene.workspace / "sub" / "data").exists()
    scene = make_session(bash("rm -rf sub"), {"text": "."}, files=files)
    changes: list[Callable[[], object]] = [
        lambda: (scene.workspace / "sub" / "more").write_text("something new to lose")
    ]

    def answer(event: ApprovalAsked) -> Approval:
        while changes:
            changes.pop()()
        return Approval(answer="once")

    events = await scene.play(answer=answer)
    first, second = of_type(events, ApprovalAsked)
    assert first.request.consequences != second.request.consequences
    assert results(events)["call-1"].result.success
    assert not (scene.workspace / "sub").exists()


async def test_what_never_stays_the_same_is_not_run(make_session: SceneMaker) -> None:
    files = {f"place-{n}/f": "x" for n in range(5)}
    scene = make_session(bash("rm link/f"), {"text": "."}, files=files)
    places = iter(range(5))
    link = scene.workspace / "link"
    link.symlink_to(f"place-{next(places)}")

    def answer(event: ApprovalAsked) -> Approval:
        link.unlink()
        link.symlink_to(f"place-{next(places)}")
        return Approval(answer="once")

    events = await scene.play(answer=answer)
    assert len(of_type(events, ApprovalAsked)) == 3
    assert all((scene.workspace / name).exists() for name in files)
    assert "keeps changing" in str(results(events)["call-1"].result.llm_content)
