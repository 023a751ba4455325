"""The status line of the running app."""

from agent_cli.core.model import ModelFacts
from tests.kit.sessions import SceneMaker
from tests.kit.trees import git, repository
from tests.screens.app import running

SPOKEN = {"text": "hi", "usage": {"input_tokens": 2500, "output_tokens": 10}}


async def test_the_window_in_use_is_a_bar_and_an_unknown_price_a_question_mark(
    make_session: SceneMaker,
) -> None:
    scene = make_session(SPOKEN, window=10_000)
    async with running(scene) as screen:
        await screen.shows("ctx ▁ 0 %")
        await screen.send("go")
        await screen.shows("ctx ▃ 25 %")
        await screen.idle()
        assert "$?" in screen.status
        assert " s " not in screen.status
        await screen.send("/clear")
        await screen.shows("ctx ▁ 0 %")


async def test_without_a_known_window_there_is_no_bar(make_session: SceneMaker) -> None:
    async with running(make_session(SPOKEN)) as screen:
        await screen.send("go")
        await screen.idle()
        assert "ctx" not in screen.status
        assert await screen.session.describe_model() == ModelFacts()


async def test_a_known_price_is_shown(make_session: SceneMaker) -> None:
    usage = {"input_tokens": 10, "output_tokens": 5, "cost": 0.25}
    async with running(make_session({"text": "hi", "usage": usage})) as screen:
        await screen.send("go")
        await screen.shows("$0.25")


async def test_the_branch_is_read_again_when_a_turn_ends(make_session: SceneMaker) -> None:
    repository(make_session.workspace, {"a": "1"})
    async with running(make_session()) as screen:
        assert "main" in screen.status
        git(make_session.workspace, "checkout", "-q", "-b", "topic")
        screen.app.controller.refresh()
        assert "main" in screen.status
        await screen.send("!true")
        await screen.shows("topic")


async def test_a_running_turn_shows_its_time_without_layout(make_session: SceneMaker) -> None:
    async with running(make_session({"text": "slow", "hang": True})) as screen:
        await screen.send("go")
        await screen.shows("slow")
        layouts: list[bool] = []
        plain = screen.app.composer.status.refresh
        screen.app.composer.status.refresh = lambda *r, **k: (  # type: ignore[method-assign]
            layouts.append(bool(k.get("layout"))),
            plain(*r, **k),
        )[1]
        screen.view.meter._turn -= 75  # type: ignore[operator]
        screen.app.controller.refresh()
        await screen.shows("1:15 min")
        assert layouts
        assert not any(layouts)
        scene_over = screen.session.interrupt()
        assert scene_over
        await screen.idle()
        assert "min" not in screen.status
