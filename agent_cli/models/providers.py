"""Which environment variables belong to which provider, and what to say when one is missing."""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Provider:
    """A provider by the prefix of its model names."""

    prefix: str
    title: str
    key: str | None
    """The variable that must be set; None: no key is needed, or more than one way to sign in."""
    also: tuple[str, ...] = ()
    """Other variables LiteLLM reads for it; a trailing `*` stands for any ending."""
    suggested: str = ""
    """The model to begin with; empty: that is the account's business."""
    other_signs: tuple[str, ...] = ()
    """Variables that show, like the key, that somebody has set it up."""
    calls_tools: bool = False
    """All its models make tool calls of their own; none writes them as text."""

    @property
    def signs(self) -> tuple[str, ...]:
        """Variables of which one is enough to try it."""
        return (*((self.key,) if self.key else ()), *self.other_signs)


PROVIDERS = (
    Provider(
        "anthropic", "Anthropic", "ANTHROPIC_API_KEY", ("ANTHROPIC_*",),
        "anthropic/claude-sonnet-4-5", calls_tools=True,
    ),
    Provider(
        "openai", "OpenAI", "OPENAI_API_KEY", ("OPENAI_*",), "openai/gpt-5", calls_tools=True
    ),
    Provider(
        "gemini", "Google Gemini", "GEMINI_API_KEY", ("GOOGLE_API_KEY", "GEMINI_*"),
        "gemini/gemini-2.5-pro", ("GOOGLE_API_KEY",), calls_tools=True,
    ),
    Provider(
        "vertex_ai", "Vertex AI", None, ("VERTEXAI_*", "VERTEX_*", "GOOGLE_*"),
        other_signs=("VERTEXAI_PROJECT",),
    ),
    Provider(
        "mistral", "Mistral", "MISTRAL_API_KEY", ("MISTRAL_*",), "mistral/devstral-medium-latest"
    ),
    Provider(
        "deepseek", "DeepSeek", "DEEPSEEK_API_KEY", ("DEEPSEEK_*",), "deepseek/deepseek-chat"
    ),
    Provider(
        "openrouter", "OpenRouter", "OPENROUTER_API_KEY", ("OPENROUTER_*", "OR_*"),
        "openrouter/anthropic/claude-sonnet-4.5",
    ),
    Provider(
        "moonshot", "Moonshot (Kimi)", "MOONSHOT_API_KEY", ("MOONSHOT_*",), "moonshot/kimi-k2.5"
    ),
    Provider(
        "dashscope", "DashScope (Qwen)", "DASHSCOPE_API_KEY", ("DASHSCOPE_*",),
        "dashscope/qwen3-coder-plus",
    ),
    Provider("zai", "Z.ai (GLM)", "ZAI_API_KEY", ("ZAI_*",), "zai/glm-4.6"),
    Provider("xai", "xAI", "XAI_API_KEY", ("XAI_*",), "xai/grok-code-fast-1"),
    Provider("groq", "Groq", "GROQ_API_KEY", ("GROQ_*",), "groq/openai/gpt-oss-120b"),
    Provider("cerebras", "Cerebras", "CEREBRAS_API_KEY", ("CEREBRAS_*",), "cerebras/gpt-oss-120b"),
    Provider(
        "azure", "Azure OpenAI", None, ("AZURE_*",),
        other_signs=("AZURE_API_KEY", "AZURE_OPENAI_API_KEY"),
    ),
    Provider(
        "bedrock", "Amazon Bedrock", None, ("AWS_*",),
        other_signs=("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE"),
    ),
    Provider("ollama", "Ollama", None, ("OLLAMA_*",)),
    Provider("ollama_chat", "Ollama", None, ("OLLAMA_*",)),
    Provider("hosted_vllm", "vLLM", None, ("HOSTED_VLLM_*",)),
    Provider("lm_studio", "LM Studio", None, ("LM_STUDIO_*",)),
)  # fmt: skip
_BY_PREFIX = {provider.prefix: provider for provider in PROVIDERS}


SCRIPTED = "scripted:"
OFFLINE = "offline:"


def is_local(model: str) -> bool:
    """Whether the model is part of this program: it needs neither a key nor LiteLLM."""
    return model.startswith((SCRIPTED, OFFLINE))


def unknown_prefix(model: str) -> str:
    """What a name begins with that no provider's name does: `mine:`; empty where there is none."""
    prefix, colon, _ = model.partition("/")[0].partition(":")
    is_known = not colon or is_local(model) or prefix == "ft"  # as OpenAI calls fine-tuned models
    return "" if is_known else prefix + colon


def provider_of(model: str) -> Provider:
    """The provider of a model name; one nobody knows follows the usual convention."""
    prefix, slash, _ = model.partition("/")
    if not slash:
        name = model.lower()
        guesses = (("claude", "anthropic"), ("gemini", "gemini"))
        prefix = next((found for word, found in guesses if word in name), "openai")
    known = _BY_PREFIX.get(prefix)
    if known is not None:
        return known
    stem = prefix.upper().replace("-", "_")
    return Provider(prefix, prefix, None, (f"{stem}_*",))


def variables_for(model: str, credentials: Mapping[str, str]) -> dict[str, str]:
    """The credentials that this model's provider needs, and no others."""
    provider = provider_of(model)
    wanted = (provider.key, *provider.also)
    return {
        name: value
        for name, value in credentials.items()
        if any(pattern and _matches(name, pattern) for pattern in wanted)
    }


def take_credentials(environment: MutableMapping[str, str]) -> dict[str, str]:
    """Remove every provider's variables from an environment and return them."""
    patterns = [p for provider in PROVIDERS for p in (provider.key, *provider.also) if p]
    taken = [
        name
        for name in environment
        if name.endswith("_API_KEY") or any(_matches(name, pattern) for pattern in patterns)
    ]
    return {name: environment.pop(name) for name in taken}


def _matches(name: str, pattern: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
