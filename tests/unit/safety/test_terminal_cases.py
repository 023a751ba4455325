"""Every case of the terminal corpus, at the level of the functions that clean text."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from agent_cli.safety.sanitise import Cleaner, clean, oddities, parse_styles, visible

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "cases" / "terminal_cases.jsonl").open()
]


def raw_output(case: dict[str, Any]) -> str | bytes:
    if "raw_b64" in case:
        return base64.b64decode(case["raw_b64"])
    if "repeat" in case:
        piece, times = case["repeat"]
        return str(piece) * int(times)
    return str(case["output"])


def shown(case: dict[str, Any]) -> list[str]:
    """The case through every function that may put its text on a screen."""
    output = raw_output(case)
    cleaner = Cleaner()
    pieces = case.get("chunks") or [output]
    streamed = "".join(cleaner.feed(piece) for piece in pieces) + cleaner.finish()
    if case["context"] in {"modal", "filename"}:
        text = output if isinstance(output, str) else output.decode("utf-8", "replace")
        return [visible(text, one_line=case["context"] == "filename")]
    if isinstance(output, bytes):
        return [streamed]
    return [streamed, *([clean(output), "".join(s.text for s in parse_styles(output))])]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_terminal_case(case: dict[str, Any]) -> None:
    for text in shown(case):
        for forbidden in case["must_not_contain"]:
            assert forbidden not in text
        for wanted in case["must_contain"]:
            assert wanted in text
        text.encode("utf-8")
        assert len(text) < 10_000
    if case.get("modal_must_show_escaped"):
        assert "\\" in shown(case)[0]
        assert oddities(case["output"])
    if case.get("modal_must_warn"):
        assert oddities(case["output"])
