"""The older part of a conversation in a model's words."""

from collections.abc import Iterator, Sequence
from contextlib import aclosing
from importlib import resources

from agent_cli.core.errors import ModelError, ModelErrorKind
from agent_cli.core.messages import AssistantMessage, Message, ToolMessage, UserMessage, text_of
from agent_cli.core.model import Model, ModelRequest, Reply
from agent_cli.lib.language import tr
from agent_cli.lib.text import head_and_tail

MAX_RESULT_CHARS = 3_000
MAX_CALL_CHARS = 1_000
MAX_WHOLE_CHARS = 400_000
"""Characters of the conversation that are given to be summarised."""
MAX_SUMMARY_CHARS = 24_000
_GAP = "[… {left_out:,} characters left out …]"


def summary_request(
    messages: Sequence[Message], *, focus: str = "", longest: int = MAX_WHOLE_CHARS
) -> ModelRequest:
    """What a model is asked for a summary with."""
    task = UserMessage(content=_task(messages, focus, longest))
    return ModelRequest(system=_prompt(), messages=(task,))


async def summarise(model: Model, request: ModelRequest, received: list[str]) -> Reply:
    """Ask a model for a summary; `received` gets its pieces. Raises ModelError if it breaks off."""
    async with aclosing(model.stream(request)) as events:  # type: ignore[type-var]
        async for event in events:
            if isinstance(event, Reply):
                return event
            received.append(event.text)
    raise ModelError(tr("The summary broke off."), kind=ModelErrorKind.CONNECTION)


def text_of_summary(reply: Reply) -> str:
    """The summary, bounded."""
    return head_and_tail(reply.message.text.strip(), MAX_SUMMARY_CHARS, _GAP)


def _prompt() -> str:
    return resources.files("agent_cli.core").joinpath("compaction_prompt.md").read_text("utf-8")


def _task(messages: Sequence[Message], focus: str, longest: int) -> str:
    told = head_and_tail("\n\n".join(_describe(messages)), longest, _GAP)
    wish = f"\n\nAbove all, the user wants this remembered: {focus}" if focus else ""
    return f"<conversation>\n{told}\n</conversation>\n\nWrite the summary now.{wish}"


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
                    arguments = head_and_tail(call.arguments, MAX_CALL_CHARS, _GAP)
                    yield f"CALL {call.name}: {arguments}"
            case ToolMessage():
                failed = " (failed)" if message.is_error else ""
                result = head_and_tail(text_of(message.content), MAX_RESULT_CHARS, _GAP)
                yield f"RESULT of {message.name}{failed}: {result}"
