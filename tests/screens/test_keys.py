"""Keys in the real app."""

from tests.kit.sessions import SceneMaker
from tests.screens.app import running


async def test_page_up_scrolls_the_transcript_while_the_prompt_has_the_focus(
    make_session: SceneMaker,
) -> None:
    long = "\n\n".join(f"line {number}" for number in range(90))
    async with running(make_session({"text": long})) as screen:
        await screen.send("go")
        await screen.idle()
        await screen.shows("line 89")
        await screen.pilot.press("pageup")
        await screen.pilot.pause()
        assert "line 89" not in screen.text


async def test_a_toast_can_be_waited_for(make_session: SceneMaker) -> None:
    async with running(make_session()) as screen:
        screen.app.notify("Copied.")
        await screen.shows("Copied.")
