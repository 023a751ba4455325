"""Where models come from, by their names."""

import pytest

from agent_cli.core.errors import UserError
from agent_cli.models.prompted import PromptedTools
from agent_cli.models.providers import is_local
from agent_cli.models.remote_model import Endpoint
from agent_cli.models.source import ModelSource
from agent_cli.models.worker_process import WorkerProcess

KEYS = {"ANTHROPIC_API_KEY": "sk-1", "OPENAI_API_KEY": "sk-2", "GROQ_API_KEY": "sk-3"}


def source(*endpoints: Endpoint, **prompted: bool) -> ModelSource:
    return ModelSource(
        KEYS, {each.model: each for each in endpoints}, WorkerProcess(), prompted=prompted
    )


@pytest.mark.parametrize("name", ["mine:claude", "llama3:8b", "scriptd:/tmp/x"])
def test_a_mistyped_prefix_is_called_that(name: str) -> None:
    with pytest.raises(UserError, match=f"Unknown model prefix: {name.partition(':')[0]}:"):
        source().get(name)


def test_a_local_model_that_does_not_exist_needs_no_key() -> None:
    with pytest.raises(UserError, match="Unknown model: offline:nobody"):
        source().get("offline:nobody")


@pytest.mark.parametrize(
    "name", ["ollama_chat/qwen3:8b", "ft:gpt-4o:me::1", "bedrock/anthropic.claude-v1:0"]
)
def test_a_colon_elsewhere_is_part_of_the_name(name: str) -> None:
    assert source().get(name).name == name


def test_a_server_of_ones_own_may_call_its_models_as_it_likes() -> None:
    own = Endpoint("mine:8b", api_base="http://localhost:1")
    assert source(own).get("mine:8b").name == "mine:8b"


def test_our_own_models_are_local_and_others_are_not() -> None:
    assert is_local("offline:guide")
    assert is_local("scripted:/tmp/script")
    assert not is_local("ollama_chat/qwen3")


@pytest.mark.parametrize(
    ("name", "is_wrapped"),
    [("anthropic/claude-sonnet-4-5", False), ("groq/llama", True), ("openai/gpt-5", False)],
)
def test_only_models_that_may_need_it_are_prompted_for_tool_calls(
    name: str, is_wrapped: bool
) -> None:
    assert isinstance(source().get(name), PromptedTools) is is_wrapped
    own = Endpoint(name, api_base="http://localhost:1")
    assert isinstance(source(own).get(name), PromptedTools)
    assert isinstance(source(**{name: True}).get(name), PromptedTools)
    assert not isinstance(source(**{name: False}).get(name), PromptedTools)
