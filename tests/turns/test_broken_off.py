"""A request that ends before the provider says what it used is counted all the same."""

from contextlib import aclosing
from typing import Any

from agent_cli.core.events import Event, TextDelta
from agent_cli.core.model import ModelFacts, Prices, Usage
from agent_cli.core.money.pricing import short_price
from tests.kit.sessions import Scene, SceneMaker, finish

PRICED = {"scripted": ModelFacts(prices=Prices(1e-3, 2e-3))}
BROKEN = {"text": "Half an ans", "error": {"kind": "connection", "retry_after": 0}}


async def interrupted(scene: Scene) -> Usage:
    """What is counted when the person stops the first words."""
    events: list[Event] = []
    async with aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, TextDelta):
                scene.session.interrupt()
    assert finish(events).reason == "interrupted"
    return finish(events).usage


async def test_an_interrupted_request_is_counted_at_its_price(make_session: SceneMaker) -> None:
    scene = make_session({"text": "12345678", "hang": True}, facts=PRICED)
    used = await interrupted(scene)
    assert used.input_tokens > 100
    assert used.output_tokens == 2
    assert used.estimated_tokens == used.input_tokens + 2
    assert used.cost == PRICED["scripted"].prices.cost(used)  # type: ignore[union-attr]
    assert scene.session.spending.dollars == used.cost


async def test_without_a_known_price_it_is_said_that_it_is_not_known(
    make_session: SceneMaker,
) -> None:
    used = await interrupted(make_session({"text": "12345678", "hang": True}))
    assert used.unpriced == used.estimated_tokens > 100
    assert short_price(used) == "$?"


async def test_what_breaks_off_is_counted_beside_its_repetition(make_session: SceneMaker) -> None:
    answer = {"text": "done", "usage": {"input_tokens": 10, "output_tokens": 1, "cost": 1.0}}
    scene = make_session(BROKEN, answer, facts=PRICED)
    used = finish([event async for event in scene.session.run("go")]).usage
    assert used.cost is not None
    assert used.cost > 1.0
    assert scene.session.spending.models["scripted"].requests == 2
    assert used.input_tokens == used.estimated_tokens - 3 + 10
    assert scene.session.spending.last.input_tokens == 10  # how full the window is, was counted


async def test_a_refused_request_costs_nothing(make_session: SceneMaker) -> None:
    refused: dict[str, Any] = {"error": {"kind": "rate_limit", "retry_after": 0}}
    scene = make_session(refused, {"text": "done"}, facts=PRICED)
    used = finish([event async for event in scene.session.run("go")]).usage
    assert used == Usage()


async def test_a_runaway_reply_is_counted(make_session: SceneMaker) -> None:
    scene = make_session({"text": "well" + " " * 5_000, "pieces": 500}, facts=PRICED)
    used = finish([event async for event in scene.session.run("go")]).usage
    assert used.estimated_tokens > 100
    assert used.cost


async def test_a_budget_is_spent_by_what_was_interrupted(make_session: SceneMaker) -> None:
    budget = {"settings": {"budget": {"session": 0.01}}, "attended": False}
    scene = make_session({"text": "12345678", "hang": True}, {"text": "x"}, facts=PRICED, **budget)
    await interrupted(scene)
    over = finish([event async for event in scene.session.run("go on")])
    assert over.reason == "cost_limit"
