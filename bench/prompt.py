"""How many tokens every request begins with."""

import hashlib
import importlib
import importlib.util
import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from agent_cli.core.system_prompt import fixed_prompt
from agent_cli.runtime import built_in_tools
from bench.rows import Row, at_most, for_information

CHARACTERS_PER_TOKEN = 3.6
"""What English and JSON come to with today's tokenizers."""
ENCODING_URL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
BUDGET = 6_000


def run() -> list[Row]:
    """Measure the fixed prompt, each tool's declaration, and all together."""
    prompt = tokens(fixed_prompt())
    declared = {
        tool.name: tokens(json.dumps(tool.declaration, separators=(",", ":"), ensure_ascii=False))
        for tool in built_in_tools()
    }
    return [
        for_information("fixed prompt", prompt, "tokens"),
        *(for_information(f"  {name}", count, "tokens") for name, count in declared.items()),
        at_most("fixed prompt and all tools", prompt + sum(declared.values()), "tokens", BUDGET),
    ]


def tokens(text: str) -> int:
    """As a current tokenizer counts, if one is at hand without a download; else an estimate."""
    encoding = _encoding()
    return round(len(text) / CHARACTERS_PER_TOKEN) if encoding is None else encoding(text)


@cache
def _encoding() -> Callable[[str], int] | None:
    """Counts with the encoding that LiteLLM brings along; tiktoken looks it up by this name."""
    found = importlib.util.find_spec("litellm")
    if found is None or found.origin is None:
        return None
    bundled = Path(found.origin).parent / "litellm_core_utils" / "tokenizers"
    if not (bundled / hashlib.sha1(ENCODING_URL.encode()).hexdigest()).is_file():
        return None
    os.environ["TIKTOKEN_CACHE_DIR"] = str(bundled)
    encoding = importlib.import_module("tiktoken").get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text, disallowed_special=()))
