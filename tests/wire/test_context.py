"""Windows, prices and caches as real client libraries report them."""

import json

import pytest

from agent_cli.core.events import HistoryCompacted, Notice
from tests.kit.failures import context_overflow
from tests.kit.model_server import Call, Reply, Usage
from tests.kit.sessions import finish, of_type
from tests.wire.conftest import WireSceneMaker

FILES = {f"f{n}": f"file {n}\n" + f"line of {n}\n" * 300 for n in range(6)}


def read(number: int, usage: Usage | None = None) -> Reply:
    calls = [Call("Read", {"file_path": f"f{number}"})]
    return Reply(calls=calls, usage=usage) if usage else Reply(calls=calls)


async def test_an_overflow_is_compacted_once_and_the_request_repeated(
    make_wire: WireSceneMaker,
) -> None:
    scene = make_wire("anthropic", files=FILES)
    scene.server.add(*[read(n) for n in range(6)])
    scene.server.add(context_overflow("anthropic"))
    scene.server.say("I forgot everything.")  # the summary
    scene.server.say("done")
    events = await scene.play("Do not touch f3.")
    assert finish(events).text == "done"
    assert len(of_type(events, HistoryCompacted)) == 1
    *_, last = scene.server.requests
    body = json.dumps(last.body)
    assert "Do not touch f3." in body
    assert "I forgot everything." in body
    assert json.dumps(FILES["f5"])[1:-1] in body


async def test_the_cost_of_a_missed_cache_is_told(make_wire: WireSceneMaker) -> None:
    scene = make_wire("anthropic", files=FILES)
    scene.server.add(read(0, Usage(input=100, output=5, cache_written=20_000)))
    scene.server.add(read(1, Usage(input=200, output=5, cache_written=20_500)))
    scene.server.add(Reply("done", usage=Usage(input=100, output=5, cache_read=20_500)))
    events = await scene.play()
    (notice,) = of_type(events, Notice)
    assert "20,000 tokens were read again" in notice.text
    assert "$0.0540 more" in notice.text  # (3.00 - 0.30) dollars per million


async def test_what_is_known_of_a_model_comes_from_the_list(make_wire: WireSceneMaker) -> None:
    facts = await make_wire("anthropic").session.describe_model()
    assert facts.window == 200_000
    assert facts.prices is not None
    assert (facts.prices.input, facts.prices.output) == (3e-6, 15e-6)


async def test_a_model_nobody_knows_has_an_unknown_price_until_it_is_configured(
    make_wire: WireSceneMaker,
) -> None:
    name = "openai/nobody-knows-me"
    base = {"api_base": f"{make_wire.server.url}/v1"}
    own = {"model": name, "models": {name: base}}
    scene = make_wire("openai", settings=own)
    scene.server.say("hi")
    await scene.play()
    assert scene.session.usage.cost is None
    assert scene.session.usage.unpriced == 18
    priced = {**base, "input_price": 2.0, "output_price": 8.0, "cached_price": 0.5, "window": 9_000}
    scene = make_wire("openai", settings={"model": name, "models": {name: priced}})
    scene.server.add(Reply("hi", usage=Usage(input=100_000, output=1_000, cache_read=100_000)))
    await scene.play()
    assert scene.session.usage.cost == pytest.approx(0.2 + 0.05 + 0.008)
    facts = await scene.session.describe_model()
    assert facts.window == 9_000
