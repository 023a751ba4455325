"""Replace in a session: who is asked, and about what."""

from agent_cli.core.display import DiffBlock
from agent_cli.core.events import ApprovalAsked
from agent_cli.core.inbox import Approval
from tests.kit.sessions import SceneMaker, of_type, results

APPLY = {"pattern": "foo", "replacement": "bar", "preview": False}


def calling(**arguments: object) -> dict[str, object]:
    return {"calls": [{"id": "1", "name": "Replace", "arguments": arguments}]}


async def test_a_preview_asks_nobody(make_session: SceneMaker) -> None:
    scene = make_session(
        calling(pattern="foo", replacement="bar"), {"text": "done"}, files={"a.txt": "foo\n"}
    )
    events = await scene.play()
    assert not of_type(events, ApprovalAsked)
    assert results(events)["1"].result.summary == "Would replace 1 match in 1 file"


async def test_applying_asks_with_the_files_and_their_diff(make_session: SceneMaker) -> None:
    scene = make_session(
        calling(**APPLY), {"text": "done"}, files={"a.txt": "foo\n", "b/c.txt": "foo\n", "d": "x"}
    )
    events = await scene.play(answer=lambda _asked: Approval(answer="once"))
    (asked,) = of_type(events, ApprovalAsked)
    root = scene.workspace.resolve()
    assert asked.request.targets == (f"{root}/a.txt", f"{root}/b/c.txt")
    assert isinstance(asked.request.preview, DiffBlock)
    assert asked.request.preview.path == "2 matches in 2 files"
    assert (scene.workspace / "b/c.txt").read_text() == "bar\n"


async def test_a_no_changes_nothing(make_session: SceneMaker) -> None:
    scene = make_session(calling(**APPLY), {"text": "done"}, files={"a.txt": "foo\n"})
    await scene.play(answer=lambda _asked: Approval(answer="no"))
    assert (scene.workspace / "a.txt").read_text() == "foo\n"


async def test_a_rule_that_denies_one_file_denies_the_whole(make_session: SceneMaker) -> None:
    scene = make_session(
        calling(**APPLY),
        {"text": "done"},
        settings={"permissions": {"deny": ["Edit(docs/**)"], "allow": ["Edit(./**)", "Replace"]}},
        files={"a.txt": "foo\n", "docs/b.txt": "foo\n"},
    )
    events = await scene.play()
    assert "Edit(docs/**)" in str(results(events)["1"].result.llm_content)
    assert (scene.workspace / "a.txt").read_text() == "foo\n"


async def test_a_protected_file_among_others_asks_in_every_mode(make_session: SceneMaker) -> None:
    scene = make_session(
        calling(**APPLY, glob="*.md"),
        {"text": "done"},
        settings={"mode": "accept-edits"},
        files={"a.md": "foo\n", "AGENTS.md": "foo\n"},
    )
    events = await scene.play(answer=lambda _asked: Approval(answer="no"))
    (asked,) = of_type(events, ApprovalAsked)
    assert "AGENTS.md" in "".join(map(str, asked.request.reasons))


async def test_nothing_to_replace_asks_nobody(make_session: SceneMaker) -> None:
    scene = make_session(calling(**APPLY), {"text": "done"}, files={"a.txt": "x\n"})
    events = await scene.play()
    assert not of_type(events, ApprovalAsked)
    assert not results(events)["1"].result.success


async def test_outside_the_workspace_nothing_is_learnt_without_a_yes(
    make_session: SceneMaker,
) -> None:
    outside = make_session.workspace.parent / "outside.txt"
    outside.write_text("foo\n")
    told = []
    for pattern in ("foo", "zzz"):
        scene = make_session(
            calling(pattern=pattern, replacement="bar", preview=False, path=str(outside)),
            {"text": "done"},
        )
        events = await scene.play(answer=lambda _asked: Approval(answer="no"))
        assert len(of_type(events, ApprovalAsked)) == 1
        told.append(results(events)["1"].result.llm_content)
    assert told[0] == told[1]
