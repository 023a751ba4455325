"""Sessions on the screen: shown as they were, picked, named."""

from agent_cli.core.messages import text_of
from agent_cli.frontends.tui.modals.sessions_modal import SessionsModal
from agent_cli.resuming import Resume
from agent_cli.storage.prompt_history import PromptHistory
from tests.kit.sessions import SceneMaker
from tests.kit.shells import until
from tests.screens.app import running
from tests.screens.host import type_text

READ = {
    "thinking": "hm",
    "text": "Look.",
    "calls": [{"name": "Read", "arguments": {"file_path": "a.txt"}}],
}


async def test_a_resumed_session_looks_as_it_did(make_session: SceneMaker) -> None:
    first = make_session(READ, {"text": "It says **hi**."}, files={"a.txt": "hi\n"})
    async with running(first) as screen:
        await screen.send("what is it?")
        await screen.shows("It says hi.")
        await screen.idle()
        before = [block.plain_text() for block in screen.app.transcript.blocks]
    await first.session.close()
    async with running(make_session(resume=Resume())) as screen:
        await screen.shows("what is it?", "thought", "Look.", "Read", "It says hi.", "Resumed")
        after = [block.plain_text() for block in screen.app.transcript.blocks]
        assert after[1:-1] == before[1:]
        assert not any(block.is_running for block in screen.app.transcript.blocks)


async def test_a_turn_that_failed_can_be_tried_again_after_resuming(
    make_session: SceneMaker,
) -> None:
    first = make_session({"error": {"kind": "not_found", "message": "no such model"}})
    await first.play("go")
    await first.session.close()
    async with running(make_session({"text": "Now it works."}, resume=Resume())) as screen:
        await screen.shows("no such model", "Resumed")
        await screen.send("/retry")
        await screen.shows("Now it works.")
        await screen.idle()


async def test_a_session_is_picked_with_a_look_into_it(make_session: SceneMaker) -> None:
    for prompt in ("about apples", "about pears"):
        other = make_session({"text": f"An answer {prompt}."})
        await other.play(prompt)
        await other.session.close()
    scene = make_session()
    async with running(scene) as screen:
        await screen.send("/sessions")
        await screen.shows("about apples", "about pears", "An answer about pears.")
        await screen.pilot.press("down")
        await screen.shows("An answer about apples.")
        await screen.pilot.press(*"pear")
        await until(lambda: "about apples" not in screen.text)
        await screen.shows("An answer about pears.")
        await screen.pilot.press("ctrl+f")
        await until(lambda: screen.app.controller.following is not None)
    following = screen.app.controller.following
    assert following is not None
    copy = make_session({"text": "Both."}, resume=following)
    assert copy.session.id != other.session.id
    assert [text_of(each.content) for each in copy.session.messages[:1]] == ["about pears"]


async def test_a_copy_needs_no_index(make_session: SceneMaker) -> None:
    scene = make_session({"text": "Hello."})
    async with running(scene) as screen:
        await screen.send("hi")
        await screen.shows("Hello.")
        await screen.idle()
        (scene.home / ".local/state/agent/sessions.sqlite").mkdir()
        await screen.send("/sessions")
        await screen.shows("Sessions can't be listed right now: Is a directory")
        await screen.pilot.press("escape")
        await until(lambda: not isinstance(screen.app.screen, SessionsModal))
        await screen.send("/fork")
        await until(lambda: screen.app.controller.following is not None)


async def test_what_is_written_and_not_sent_is_not_lost(make_session: SceneMaker) -> None:
    scene = make_session({"text": "Hello."})
    async with running(scene) as screen:
        await screen.send("hi")
        await screen.shows("Hello.")
        await screen.idle()
        await type_text(screen.pilot, "half a thought")
        screen.app.action_leave()
    assert PromptHistory.of_project(scene.home, scene.workspace, str).entries()[-1] == (
        "half a thought"
    )
    async with running(make_session(), draft="half a thought") as screen:
        await screen.shows("▌ half a thought")


async def test_a_copy_that_cannot_be_opened_leaves_the_session_open(
    make_session: SceneMaker,
) -> None:
    scene = make_session({"text": "Hello."}, {"text": "Still here."})
    async with running(scene) as screen:
        await screen.send("hi")
        await screen.shows("Hello.")
        await screen.idle()
        elsewhere = scene.workspace.rename(scene.workspace.parent / "renamed")
        await screen.send("/fork")
        await screen.shows("no longer exists")
        elsewhere.rename(scene.workspace)
        logs = scene.home / ".local/state/agent/sessions"
        lost = logs.rename(logs.parent / "lost")
        logs.touch()
        await screen.send("/fork")
        await screen.shows("There is no session")
        logs.unlink()
        lost.rename(logs)
        await screen.send("again")
        await screen.shows("Still here.")
        await screen.idle()
        assert screen.app.controller.following is None


async def test_only_this_directory_is_listed_until_others_are_wanted(
    make_session: SceneMaker,
) -> None:
    home = make_session.workspace
    make_session.workspace = home.parent / "elsewhere"
    make_session.workspace.mkdir()
    other = make_session({"text": "yes"})
    await other.play("something else")
    await other.session.close()
    make_session.workspace = home
    scene = make_session()
    async with running(scene) as screen:
        await screen.send("/sessions")
        await screen.shows("No sessions in this directory")
        await screen.pilot.press("tab")
        await screen.shows("something else", "elsewhere")
        await screen.pilot.press("escape")
        await until(lambda: not isinstance(screen.app.screen, SessionsModal))
    assert screen.app.controller.following is None


async def test_the_fast_model_names_a_session_after_its_first_turn(
    make_session: SceneMaker,
) -> None:
    scene = make_session(
        {"text": "Done."},
        {"text": "Again."},
        settings={"fast_model": "fast"},
        models={"fast": [{"text": "Fix the parser"}]},
    )
    async with running(scene) as screen:
        await screen.send("fix it")
        await screen.shows("Done.")
        await until(lambda: scene.session.title == "Fix the parser")
        await screen.send("/rename My own words")
        await until(lambda: scene.session.title == "My own words")
        await screen.send("more")
        await screen.shows("Again.")
        await screen.idle()
        assert scene.session.title == "My own words"


async def test_commands_say_what_they_cannot_do_yet(make_session: SceneMaker) -> None:
    async with running(make_session()) as screen:
        await screen.send("/fork")
        await screen.shows("Nothing to fork yet")
        await screen.send("/export")
        await screen.shows("Nothing to export yet")
        await screen.send("/rename")
        await screen.shows("Nothing to base a title on yet")


async def test_a_session_is_exported_where_it_works(make_session: SceneMaker) -> None:
    scene = make_session({"text": "Said <b>so</b>."})
    await scene.play("go")
    async with running(scene) as screen:
        await screen.send("/export out.json")
        await until((scene.workspace / "out.json").exists)
        await screen.send("/export out.docx")
        await screen.shows("Cannot export a session as .docx")
        await screen.send("/export")
        await until((scene.workspace / f"session-{scene.session.id}.md").exists)
