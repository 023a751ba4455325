"""The older part of a conversation in a model's words."""

from collections.abc import Iterator, Sequence
from importlib import resources

from agent_cli.core.messages import AssistantMessage, Message, ToolMessage, UserMessage, text_of
from agent_cli.core.model import ModelRequest
from agent_cli.lib.text import head_and_tail

MAX_RESULT_CHARS = 3_000
MAX_CALL_CHARS = 1_000
MAX_WHOLE_CHARS = 400_000
"""Characters of the conversation that are given to be summarised."""
MAX_SUMMARY_CHARS = 24_000
GAP = "[… {left_out:,} characters left out …]"


def summary_request(
    messages: Sequence[Message], *, focus: str = "", longest: int = MAX_WHOLE_CHARS
) -> ModelRequest:
    """What a model is asked for a summary with."""
    prompt = resources.files("agent_cli.core").joinpath("compaction_prompt.md").read_text("utf-8")
    told = head_and_tail("\n\n".join(_describe(messages)), longest, GAP)
    wish = f"\n\nAbove all, the user wants this remembered: {focus}" if focus else ""
    task = f"<conversation>\n{told}\n</conversation>\n\nWrite the summary now.{wish}"
    return ModelRequest(system=prompt, messages=(UserMessage(content=task),))


def _describe(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        match message:
            case UserMessage(origin="person"):
                yield f"USER: {text_of(message.content)}"
            case UserMessage(origin="files"):
                pass  # read again from disk anyway
            case UserMessage():
                yield f"PROGRAM: {text_of(message.content)}"
            case AssistantMessage():
                if message.text:
                    yield f"AGENT: {message.text}"
                for call in message.calls:
                    arguments = head_and_tail(call.arguments, MAX_CALL_CHARS, GAP)
                    yield f"CALL {call.name}: {arguments}"
            case ToolMessage():
                failed = " (failed)" if message.is_error else ""
                result = head_and_tail(text_of(message.content), MAX_RESULT_CHARS, GAP)
                yield f"RESULT of {message.name}{failed}: {result}"
