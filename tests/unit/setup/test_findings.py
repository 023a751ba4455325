"""What is found on a machine, and what is made of it."""

import pytest

from agent_cli.models.providers import PROVIDERS
from agent_cli.setup.findings import Findings, keys_in, look, propose
from agent_cli.setup.local_servers import addresses, find_servers
from agent_cli.setup.model_choice import ModelChoice
from tests.kit.local_servers import (
    NO_SERVERS,
    LocalServer,
    llama_cpp,
    lm_studio,
    ollama,
    serving,
    vllm,
)

NOWHERE = {"AGENT_LOCAL_PORTS": NO_SERVERS}


@pytest.mark.parametrize(
    ("variable", "model"),
    [
        ("ANTHROPIC_API_KEY", "anthropic/claude-sonnet-4-5"),
        ("OPENAI_API_KEY", "openai/gpt-5"),
        ("GEMINI_API_KEY", "gemini/gemini-2.5-pro"),
        ("GOOGLE_API_KEY", "gemini/gemini-2.5-pro"),
        ("MISTRAL_API_KEY", "mistral/devstral-medium-latest"),
        ("DEEPSEEK_API_KEY", "deepseek/deepseek-chat"),
        ("OPENROUTER_API_KEY", "openrouter/anthropic/claude-sonnet-4.5"),
        ("MOONSHOT_API_KEY", "moonshot/kimi-k2.5"),
        ("DASHSCOPE_API_KEY", "dashscope/qwen3-coder-plus"),
        ("XAI_API_KEY", "xai/grok-code-fast-1"),
        ("GROQ_API_KEY", "groq/openai/gpt-oss-120b"),
    ],
)
async def test_a_single_key_decides(variable: str, model: str) -> None:
    proposal = propose(await look({variable: "k", **NOWHERE}, {}))
    assert proposal is not None
    assert proposal.choice == ModelChoice(model)
    assert variable in proposal.because


async def test_a_key_that_was_kept_counts_like_one_in_the_environment() -> None:
    proposal = propose(await look(NOWHERE, {"MISTRAL_API_KEY": "k"}))
    assert proposal is not None
    assert proposal.choice.model.startswith("mistral/")


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"ANTHROPIC_API_KEY": "  "},
        {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "b"},
        {"AZURE_API_KEY": "a"},
        {"AWS_ACCESS_KEY_ID": "a"},
    ],
    ids=["nothing", "a blank key", "two keys", "Azure", "Bedrock"],
)
async def test_anything_else_is_no_clear_choice(environment: dict[str, str]) -> None:
    assert propose(await look({**environment, **NOWHERE}, {})) is None


def test_an_account_elsewhere_does_not_blur_a_key() -> None:
    findings = Findings(keys_in({"ANTHROPIC_API_KEY": "a", "AWS_PROFILE": "work"}))
    assert [key.provider.prefix for key in findings.keys] == ["anthropic", "bedrock"]
    proposal = propose(findings)
    assert proposal is not None
    assert proposal.choice.model.startswith("anthropic/")


def test_every_suggestion_belongs_to_its_provider() -> None:
    for provider in PROVIDERS:
        assert not provider.suggested or provider.suggested.startswith(f"{provider.prefix}/")


async def test_each_kind_of_server_is_found() -> None:
    chat = {"id": "qwen", "type": "llm"}
    with (
        serving(ollama("qwen3:8b", "nomic-embed-text")) as first,
        serving(lm_studio(chat, {"id": "vec", "type": "embeddings"})) as second,
        serving(llama_cpp("a.gguf")) as third,
        serving(vllm("Qwen/Qwen3", 40_000)) as fourth,
    ):
        ports = (
            f"ollama={first.port},lm_studio={second.port},llama_cpp={third.port},vllm={fourth.port}"
        )
        found = await find_servers({"AGENT_LOCAL_PORTS": ports})
    assert [(server.kind.title, server.models, server.api_base) for server in found] == [
        ("Ollama", ("ollama_chat/qwen3:8b",), first.url),
        ("LM Studio", ("lm_studio/qwen",), f"{second.url}/v1"),
        ("llama.cpp", ("hosted_vllm/a.gguf",), f"{third.url}/v1"),
        ("vLLM", ("hosted_vllm/Qwen/Qwen3",), f"{fourth.url}/v1"),
    ]


async def test_the_only_local_model_is_proposed_and_two_are_not() -> None:
    with serving(ollama("qwen3:8b")) as server:
        environment = {"AGENT_LOCAL_PORTS": f"{NO_SERVERS},ollama={server.port}"}
        proposal = propose(await look(environment, {}))
    assert proposal is not None
    assert proposal.choice == ModelChoice("ollama_chat/qwen3:8b", server.url)
    with serving(ollama("qwen3:8b", "llama3")) as server:
        environment = {"AGENT_LOCAL_PORTS": f"{NO_SERVERS},ollama={server.port}"}
        findings = await look(environment, {})
    assert propose(findings) is None
    assert not findings.is_empty


async def test_where_a_key_decides_no_server_is_asked() -> None:
    with serving(ollama("qwen3:8b")) as server:
        ports = f"{NO_SERVERS},ollama={server.port}"
        await look({"OPENAI_API_KEY": "k", "AGENT_LOCAL_PORTS": ports}, {})
    assert server.asked == []


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>my own site</html>",
        b"{",
        b"[" * 100_000,
        [],
        {"models": "no list"},
        {"models": [{"name": "a\x1b[2Jb"}, {"name": "two words"}, {"name": 7}, "x", {"name": ""}]},
    ],
    ids=["a page", "broken", "deep", "a list", "no list", "hostile names"],
)
async def test_whatever_else_listens_there_offers_no_model(answer: object) -> None:
    routes = dict.fromkeys(("/api/tags", "/api/v0/models", "/props", "/v1/models"), answer)
    with serving(LocalServer(routes)) as server:
        kinds = ("ollama", "lm_studio", "llama_cpp", "vllm")
        ports = ",".join(f"{kind}={server.port}" for kind in kinds)
        findings = await look({"AGENT_LOCAL_PORTS": ports}, {})
    assert findings.is_empty


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("", "http://127.0.0.1:11434"),
        ("127.0.0.1:11500", "http://127.0.0.1:11500"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://localhost:9999/", "http://localhost:9999"),
        ("192.168.1.5:11434", "http://127.0.0.1:11434"),
        ("https://example.org", "http://127.0.0.1:11434"),
    ],
)
def test_ollamas_own_variable_counts_as_far_as_it_names_this_machine(
    host: str, address: str
) -> None:
    found = {kind.id: where for kind, where in addresses({"OLLAMA_HOST": host})}
    assert found["ollama"] == address
