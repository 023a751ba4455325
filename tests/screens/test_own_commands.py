"""`!` in the prompt."""

from tests.kit.sessions import SceneMaker
from tests.screens.app import running


async def test_a_command_after_an_exclamation_mark_runs_at_once(make_session: SceneMaker) -> None:
    scene = make_session()
    async with running(scene) as screen:
        await screen.send("!echo one two")
        await screen.shows("Bash", "echo one two")
        await screen.idle()
        assert scene.model.requests == []
        assert "I ran this command myself" in str(scene.session.messages)


async def test_escape_ends_it(make_session: SceneMaker) -> None:
    async with running(make_session()) as screen:
        await screen.send("!echo on; sleep 600")
        await screen.shows("│", "on")
        await screen.pilot.press("escape")
        await screen.shows("Interrupted")
        await screen.idle()


async def test_during_a_turn_it_waits_and_is_not_said_to_the_model(
    make_session: SceneMaker,
) -> None:
    scene = make_session({"text": "thinking", "hang": True})
    async with running(scene) as screen:
        await screen.send("go")
        await screen.shows("thinking")
        await screen.send("!echo later")
        await screen.shows("esc edit")
        await screen.pilot.press("enter")
        assert screen.app.composer.queue.messages == ("!echo later",)
        scene.session.interrupt()
        await screen.shows("Bash")
        await screen.idle()
        assert "later" in str(scene.session.messages[-1])
