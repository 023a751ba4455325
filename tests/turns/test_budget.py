"""Money: what is counted, what is said about it, and where it ends."""

from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from agent_cli.core.events import Event, Notice, QuestionAsked
from agent_cli.core.inbox import Answers, QuestionRequest
from agent_cli.core.messages import UserMessage, text_of
from agent_cli.core.model import ModelFacts, Prices, Usage
from agent_cli.core.money.pricing import price
from tests.kit.sessions import Scene, SceneMaker, finish, of_type


def step(number: int, cost: float | None = 0.25, **usage: int) -> dict[str, Any]:
    used = {"input_tokens": 1_000, "output_tokens": 10, "cost": cost, **usage}
    return {"calls": [{"name": "Read", "arguments": {"file_path": f"f{number}"}}], "usage": used}


async def play(
    scene: Scene, answer: Callable[[QuestionRequest], str] = lambda _: "", prompt: str = "go"
) -> list[Event]:
    events: list[Event] = []
    async with aclosing(scene.session.run(prompt)) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, QuestionAsked):
                scene.session.reply(event.request.id, Answers(answers=(answer(event.request),)))
    return events


def texts(events: list[Event]) -> list[str]:
    return [notice.text for notice in of_type(events, Notice)]


def spends(make_session: SceneMaker, count: int, **how: Any) -> Scene:
    """A session of so many steps at a quarter of a dollar each, and a last one for nothing."""
    files = {f"f{n}": "x" for n in range(count)}
    budget = how.pop("budget", {"session": 1.0})
    settings = {"budget": budget, **how.pop("settings", {})}
    steps = [step(n) for n in range(count)]
    return make_session(*steps, {"text": "done"}, files=files, settings=settings, **how)


async def test_at_70_percent_the_person_is_told_once_and_why(make_session: SceneMaker) -> None:
    events = await play(spends(make_session, 3))
    (said,) = texts(events)
    assert "75% used: $0.75 of $1.00" in said
    assert "3,000 tokens sent" in said
    assert finish(events).text == "done"


async def test_what_the_last_step_spent_is_told_before_the_turn_ends(
    make_session: SceneMaker,
) -> None:
    scene = make_session(
        {"text": "done", "usage": {"input_tokens": 9, "cost": 0.8}},
        settings={"budget": {"session": 1.0}},
    )
    (said,) = texts(await play(scene))
    assert "80% used" in said


async def test_at_90_percent_the_model_is_told_to_wrap_up_at_the_end_of_the_request(
    make_session: SceneMaker,
) -> None:
    scene = make_session(
        step(0, 0.95), {"text": "wrapped up"}, files={"f0": "x"},
        settings={"budget": {"session": 1.0}},
    )  # fmt: skip
    events = await play(scene)
    assert finish(events).text == "wrapped up"
    assert "told to wrap up" in texts(events)[0]
    first, second = scene.model.requests
    last = second.messages[-1]
    assert isinstance(last, UserMessage)
    assert last.origin == "program"
    assert "nearly used up" in text_of(last.content)
    assert second.messages[: len(first.messages)] == first.messages
    assert (second.system, second.tools) == (first.system, first.tools)


async def test_raising_the_budget_lets_it_go_on(make_session: SceneMaker) -> None:
    scene = spends(make_session, 6)
    asked: list[str] = []

    def answer(request: QuestionRequest) -> str:
        asked.append(request.questions[0].text)
        return "Raise to $2.00"

    events = await play(scene, answer)
    assert finish(events).text == "done"
    assert len(asked) == 1
    assert "$1.00 of $1.00" in asked[0]


async def test_an_amount_of_ones_own_must_be_more_than_is_spent(make_session: SceneMaker) -> None:
    answers = iter(["0.5", "$ 1,30"])
    events = await play(spends(make_session, 5), lambda _: next(answers))
    assert finish(events).text == "done"
    assert len(of_type(events, QuestionAsked)) == 2


async def test_a_cheaper_model_can_take_over(make_session: SceneMaker) -> None:
    scene = spends(
        make_session, 4, settings={"fast_model": "small", "fallback_models": ["dear"]},
        models={"small": [{"text": "cheaply", "usage": {"input_tokens": 9, "cost": 0.01}}], "dear": []},
        facts={
            "scripted": ModelFacts(prices=Prices(3e-6, 15e-6)),
            "small": ModelFacts(prices=Prices(1e-6, 5e-6)),
            "dear": ModelFacts(prices=Prices(15e-6, 75e-6)),
        },
    )  # fmt: skip
    offered: list[str] = []

    def answer(request: QuestionRequest) -> str:
        offered.extend(choice.label for choice in request.questions[0].choices)
        return "Switch to small"

    events = await play(scene, answer)
    assert offered == ["Stop", "Raise to $2.00", "Switch to small"]
    assert finish(events).text == "cheaply"
    assert scene.session.model == "small"


@pytest.mark.parametrize("answer", ["Stop", "", "whatever"])
async def test_stopping_ends_the_turn_between_two_steps(
    make_session: SceneMaker, answer: str
) -> None:
    scene = spends(make_session, 8)
    events = await play(scene, lambda _: answer)
    assert finish(events).reason == "cost_limit"
    assert "--max-cost" in finish(events).hint
    assert len(scene.model.requests) == 4
    again = await play(scene, lambda _: answer, "go on")
    assert finish(again).reason == "cost_limit"
    assert len(scene.model.requests) == 4


async def test_an_unknown_price_is_said_and_never_nothing(make_session: SceneMaker) -> None:
    scene = make_session(
        step(0, None), {"text": "ok", "usage": {"input_tokens": 5, "cost": 0.5}},
        files={"f0": "x"}, settings={"budget": {"session": 10}},
    )  # fmt: skip
    events = await play(scene)
    assert any("price of scripted is unknown" in text for text in texts(events))
    assert price(Usage(input_tokens=5)) == "unknown price"
    assert price(scene.session.usage) == "$0.5000 and an unknown price for 1,010 tokens"


async def test_a_missed_cache_is_told_at_that_very_step(make_session: SceneMaker) -> None:
    scene = make_session(
        step(0, input_tokens=9_000, cache_write_tokens=8_000),
        step(1, input_tokens=9_500, cached_tokens=8_000, cache_write_tokens=1_000),
        step(2, input_tokens=10_000, cache_write_tokens=10_000),
        {"text": "done", "usage": {"input_tokens": 10_100, "cached_tokens": 10_000}},
        files={f"f{n}": "x" for n in range(3)},
        facts={"scripted": ModelFacts(prices=Prices(3e-6, 15e-6, 0.3e-6))},
    )  # fmt: skip
    events = await play(scene)
    (said,) = texts(events)
    assert "9,000 tokens were read again" in said
    assert "$0.0243 more" in said


async def test_what_a_model_and_a_turn_cost(make_session: SceneMaker) -> None:
    scene = make_session(step(0), {"text": "a"}, step(1), {"text": "b"}, files={"f0": "", "f1": ""})
    await play(scene)
    await play(scene)
    spending = scene.session.spending
    assert spending.models["scripted"].requests == 4
    assert [(turn.number, turn.requests) for turn in spending.turns] == [(1, 2), (2, 2)]
    assert [turn.usage.cost for turn in spending.turns] == [0.25, 0.25]
