"""The example that `agent new tool` writes."""

_TOOL = '''\
"""The tool {name}. Change this file; `/reload` loads it into a running session."""

from agent_cli.extensions.api import tool


# What is not kind="readonly" asks before it runs. Say so only if it really changes nothing.
@tool(kind="execute")
async def {name}(subject: str, times: int = 1) -> str:
    """Says hello. The model reads this: say what the tool does and when to use it.

    Args:
        subject: Whom to greet.
        times: How often.
    """
    return " ".join([f"Hello, {{subject}}!"] * times)
'''

_TEST = '''\
"""Run it with `python -m pytest {file}`."""

from {name} import {name}

from agent_cli.extensions.api import call_tool


def test_it_greets() -> None:
    result = call_tool({name}, {{"subject": "Ada", "times": 2}})
    assert result.success
    assert result.llm_content == "Hello, Ada! Hello, Ada!"


def test_it_wants_a_subject() -> None:
    result = call_tool({name}, {{}})
    assert not result.success
    assert "subject: required" in str(result.llm_content)
'''


def tool_text(name: str) -> str:
    """A working tool file."""
    return _TOOL.format(name=name)


def test_text(name: str) -> str:
    """A test of it that passes."""
    return _TEST.format(name=name, file=f"test_{name}.py")
