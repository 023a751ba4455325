"""What the settings say of a model is sent to that model, and to no other."""

from tests.kit.model_server import Reply
from tests.wire.conftest import WireSceneMaker


async def test_options_go_to_their_own_model(make_wire: WireSceneMaker) -> None:
    base = f"{make_wire.server.url}/v1"
    scene = make_wire(
        settings={
            "models": {
                "openai/gpt-4o": {"api_base": base, "options": {"temperature": 0.25}},
                "openai/gpt-4o-mini": {"api_base": base},
            }
        }
    )
    scene.server.add(Reply("one"), Reply("two"))
    await scene.play("first")
    scene.session.use_model("openai/gpt-4o-mini")
    await scene.play("second")
    first, second = scene.server.requests
    assert first.body["temperature"] == 0.25
    assert "temperature" not in second.body
