"""What a local server is found to do with a model, and what becomes of it."""

from pathlib import Path

import pytest

from agent_cli.config.schema import Settings
from agent_cli.config.user_directories import Directories
from agent_cli.setup.cards import Card, CardFile
from agent_cli.setup.model_choice import ModelChoice, ModelChoiceFile
from agent_cli.setup.overlay import learn, with_card, with_choice
from agent_cli.setup.probe import probe
from tests.kit.local_servers import LocalServer, llama_cpp, lm_studio, ollama, serving, vllm

SHOWN = {
    "capabilities": ["completion", "tools"],
    "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 131_072},
    "parameters": 'stop                           "<|im_end|>"\ntemperature 0.6',
}


def test_ollama_is_asked_for_a_window_of_our_own() -> None:
    with serving(ollama("qwen3:8b", show=SHOWN)) as server:
        card = probe("ollama_chat/qwen3:8b", server.url)
    assert card is not None
    assert (card.window, card.native_tools, card.takes_images) == (32_768, True, False)
    assert card.options == {"num_ctx": 32_768}
    assert "silently" in card.warning
    assert "131,072" in card.warning
    assert server.bodies == [{"model": "qwen3:8b"}]


def test_a_small_model_is_not_asked_for_more_than_it_has() -> None:
    shown = {**SHOWN, "model_info": {"x.context_length": 8192}}
    with serving(ollama("small", show=shown)) as server:
        card = probe("ollama_chat/small", server.url)
    assert card is not None
    assert card.options == {"num_ctx": 8192}


def test_a_window_set_in_the_modelfile_is_left_alone() -> None:
    shown = {**SHOWN, "parameters": "temperature 1\nnum_ctx                        16384"}
    with serving(ollama("mine", show=shown)) as server:
        card = probe("ollama_chat/mine", server.url)
    assert card == Card(window=16_384, native_tools=True, takes_images=False)


def test_the_other_servers_tell_their_window() -> None:
    entry = {
        "id": "qwen", "type": "vlm", "max_context_length": 32_000, "loaded_context_length": 4096,
        "capabilities": ["tool_use"],
    }  # fmt: skip
    with serving(lm_studio(entry)) as server:
        card = probe("lm_studio/qwen", f"{server.url}/v1")
    assert card is not None
    assert (card.window, card.native_tools, card.takes_images) == (4096, True, True)
    assert "4,096 of 32,000" in card.warning
    props = {"chat_template_caps": {"supports_tools": False}, "modalities": {"vision": False}}
    with serving(llama_cpp("a.gguf", **props)) as server:
        for name in ("hosted_vllm/a.gguf", "openai/anything"):
            card = probe(name, f"{server.url}/v1")
            assert card == Card(window=8192, native_tools=False, takes_images=False)
    with serving(vllm("Qwen/Qwen3", 40_000)) as server:
        assert probe("hosted_vllm/Qwen/Qwen3", f"{server.url}/v1") == Card(window=40_000)


@pytest.mark.parametrize(
    ("model", "base"),
    [
        ("anthropic/claude-sonnet-4-5", None),
        ("openai/gpt-5", None),
        ("ollama_chat/qwen3", "https://models.example.org"),
        ("ollama_chat/qwen3", "http://127.0.0.1:9"),
    ],
)
def test_what_is_elsewhere_or_silent_is_not_probed(model: str, base: str | None) -> None:
    assert probe(model, base) is None


def test_a_server_that_talks_nonsense_gives_an_empty_card() -> None:
    tags = {"models": [{"name": "x"}]}
    for told in ([], "x", {"model_info": 7, "capabilities": {}, "parameters": None}):
        with serving(LocalServer({"/api/tags": tags, "/api/show": told})) as server:
            card = probe("ollama_chat/x", server.url)
        assert card is not None
        assert card.native_tools is None


def test_the_card_fills_in_what_the_settings_leave_open(tmp_path: Path) -> None:
    places = Directories(tmp_path / "config", tmp_path / "state")
    with serving(ollama("qwen3", show=SHOWN)) as server:
        bare = {"model": "ollama_chat/qwen3", "api_base": server.url}
        assert "num_ctx" in learn(Settings.model_validate(bare), places)
        asked = len(server.asked)
        assert learn(Settings.model_validate(bare), places) == "", "once is enough"
        assert len(server.asked) == asked
    filled = with_card(Settings.model_validate(bare), places).models["ollama_chat/qwen3"]
    assert filled.window == 32_768
    assert filled.prompted_tools is False
    assert filled.options == {"num_ctx": 32_768}
    own = {"options": {"num_ctx": 9000}, "prompted_tools": True, "takes_images": True}
    said = {**bare, "models": {"ollama_chat/qwen3": own}}
    filled = with_card(Settings.model_validate(said), places).models["ollama_chat/qwen3"]
    assert (filled.window, filled.prompted_tools, filled.takes_images) == (9000, True, True)
    assert filled.options == {"num_ctx": 9000}


def test_a_damaged_card_or_choice_is_none(tmp_path: Path) -> None:
    (tmp_path / "cards.json").write_text('{"m": {"window": "x", "options": 3, "native_tools": 1}}')
    assert CardFile(tmp_path).get("m", None) == Card()
    (tmp_path / "cards.json").write_text("[")
    assert CardFile(tmp_path).get("m", None) is None
    for text in ("[", "[]", '{"model": 3}'):
        (tmp_path / "choice.json").write_text(text)
        assert ModelChoiceFile(tmp_path).read() is None


def test_the_settings_beat_an_earlier_choice(tmp_path: Path) -> None:
    places = Directories(tmp_path / "config", tmp_path / "state")
    ModelChoiceFile(places.state).keep(ModelChoice("ollama_chat/x", "http://127.0.0.1:1"))
    assert with_choice(Settings(model="openai/gpt-5"), places).model == "openai/gpt-5"
    chosen = with_choice(Settings(), places)
    assert (chosen.model, chosen.api_base) == ("ollama_chat/x", "http://127.0.0.1:1")
