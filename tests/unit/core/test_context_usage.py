"""What fills the window, and how an estimate is put right."""

from agent_cli.core.context_usage import TokenScale, measure, tokens
from agent_cli.core.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from agent_cli.core.model import ModelRequest

SYSTEM = (
    'Be good.\n\n<instructions from="/a/AGENTS.md">\n' + "Use tabs. " * 100 + "\n</instructions>"
)
REQUEST = ModelRequest(
    system=SYSTEM,
    messages=(
        UserMessage(content="Look at it. " * 50),
        AssistantMessage(text="Yes.", calls=(ToolCall(id="1", name="Read", arguments="{}"),)),
        ToolMessage(call_id="1", name="Read", content="x = 1\n" * 500),
        ToolMessage(call_id="2", name="Bash", content="ok\n" * 200),
    ),
    tools=({"type": "function", "function": {"name": "Read"}},),
)


def test_each_part_is_counted_where_it_belongs() -> None:
    fill = measure(REQUEST, lambda name: name == "Read")
    assert 200 < fill.instructions < 300
    assert fill.system < 10
    assert 700 < fill.files < 800
    assert 140 < fill.output < 170
    assert 140 < fill.conversation < 180
    assert fill.tools > 5
    assert fill.total == sum(count for _, count in fill.parts)
    assert fill.largest == "files read"


def test_what_the_provider_reports_scales_the_parts() -> None:
    scale = TokenScale()
    fill = measure(REQUEST, lambda name: name == "Read")
    assert scale.factor("a") == 1
    scale.learn("a", fill.total, 2 * fill.total)
    assert abs(fill.scale(scale.factor("a")).total - 2 * fill.total) <= len(fill.parts)
    assert scale.factor("b") == 1
    scale.learn("a", fill.total, 0)  # no report is no news
    assert scale.factor("a") == 2


def test_wide_characters_count_for_more() -> None:
    assert tokens("\u6c49" * 100) > 2 * tokens("a" * 100)
