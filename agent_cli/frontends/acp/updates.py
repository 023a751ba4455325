"""What happens in a session, as the updates an editor is sent."""

from collections.abc import Iterator

from acp import helpers, schema
from pydantic import JsonValue

from agent_cli.controller.endings import compaction_text, failure, retrying
from agent_cli.controller.wording import sentences
from agent_cli.core import events as ev
from agent_cli.core.display import TodoBlock
from agent_cli.core.messages import text_of
from agent_cli.core.session import Session
from agent_cli.core.tool import ToolKind as OwnKind
from agent_cli.core.tool import ToolResult
from agent_cli.frontends.acp import blocks
from agent_cli.frontends.shared.bounded import bound_display, bound_text
from agent_cli.frontends.shared.call import Call
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import clean

Update = (
    schema.UserMessageChunk
    | schema.AgentMessageChunk
    | schema.AgentThoughtChunk
    | schema.ToolCallStart
    | schema.ToolCallProgress
    | schema.AgentPlanUpdate
    | schema.AvailableCommandsUpdate
    | schema.CurrentModeUpdate
    | schema.SessionInfoUpdate
    | schema.UsageUpdate
)

_KINDS: dict[OwnKind, schema.ToolKind] = {
    OwnKind.READONLY: "read",
    OwnKind.SESSION: "other",
    OwnKind.WRITE: "edit",
    OwnKind.EXECUTE: "execute",
}
_CATEGORIES: dict[str, schema.ToolKind] = {
    "search": "search",
    "planning": "think",
    "network": "fetch",
}
_PATHS = ("file_path", "path")


class Updates:
    """Takes the events of one session in their order."""

    def __init__(self, session: Session) -> None:
        self.window: int | None = None
        """How many tokens a request may have, once that is known."""
        self._session = session
        self._calls: dict[str, Call] = {}
        self._has_spoken = False
        """Whether the step under way has said something."""

    def of(self, event: ev.Event) -> Iterator[Update]:
        """What the editor is told of an event."""
        match event:
            case ev.TextDelta(text=text) if text := blocks.plain(text):
                self._has_spoken = True
                yield helpers.update_agent_message_text(text)
            case ev.ThinkingDelta(text=text) if text := blocks.plain(text):
                yield helpers.update_agent_thought_text(text)
            case ev.PromptAdded(text=text):
                yield helpers.update_user_message_text(blocks.plain(text))
            case ev.ToolStarted():
                yield self._start(event)
            case ev.ToolProgress() if event.call_id in self._calls:
                yield self._progress(event)
            case ev.ToolFinished():
                yield from self._finish(event)
            case ev.UsageChanged(aside=False):
                self._has_spoken = False
                if self.window:
                    yield self._usage(event, self.window)
            case ev.ApprovalAnswered(call_id=call_id, answer=answer) if answer != "no":
                yield helpers.update_tool_call(call_id, status="in_progress")
            case ev.ModelRetrying():
                said = self._has_spoken
                void = tr("Ignore the partial answer above; retrying.") if said else ""
                self._has_spoken = False
                yield note(retrying(event), void)
            case ev.HistoryCompacted():
                yield note(compaction_text(event))
            case ev.Notice():
                yield note(event.text, event.hint)
            case _:
                pass

    def kind(self, tool: str) -> schema.ToolKind:
        """What a tool does, in the protocol's words."""
        found = next((each for each in self._session.tools if each.name == tool), None)
        if found is None:
            return "other"
        if found.kind is OwnKind.READONLY:
            return _CATEGORIES.get(found.category, "read")
        return _KINDS[found.kind]

    def _start(self, event: ev.ToolStarted) -> schema.ToolCallStart:
        call = self._calls[event.call_id] = Call(event)
        return helpers.start_tool_call(
            event.call_id,
            f"{call.tool} {call.argument}".strip(),
            kind=self.kind(event.tool),
            status="in_progress",
            locations=self._locations(event.arguments),
        )

    def _locations(self, arguments: dict[str, JsonValue]) -> list[schema.ToolCallLocation] | None:
        """The file a call is about, if an argument says so."""
        paths = [value for name in _PATHS if isinstance(value := arguments.get(name), str)]
        workspace = self._session.workspace
        return [
            schema.ToolCallLocation(path=blocks.absolute(path, workspace)) for path in paths
        ] or None

    def _progress(self, event: ev.ToolProgress) -> schema.ToolCallProgress:
        call = self._calls[event.call_id]
        call.progress(event)
        content: list[blocks.Shown] = []
        for display in call.displays:
            content += blocks.display_content(display, self._session.workspace)
        if call.tail:
            content.append(blocks.text_content(blocks.fence(clean(call.tail), "console")))
        return helpers.update_tool_call(event.call_id, status="in_progress", content=content)

    def _finish(self, event: ev.ToolFinished) -> Iterator[Update]:
        self._calls.pop(event.call_id, None)
        result = event.result
        displays = tuple(bound_display(display) for display in result.display)
        yield helpers.update_tool_call(
            event.call_id,
            status="completed" if result.success else "failed",
            content=self._content(result),
            locations=blocks.locations(displays, self._session.workspace) or None,
        )
        for display in displays:
            if isinstance(display, TodoBlock):
                yield helpers.update_plan(
                    schema.PlanEntry(
                        content=blocks.plain(item.text), priority="medium", status=item.status
                    )
                    for item in display.items
                )

    def _content(self, result: ToolResult) -> list[blocks.Shown]:
        content: list[blocks.Shown] = []
        for display in result.display:
            content += blocks.display_content(bound_display(display), self._session.workspace)
        if result.error is not None:
            content.append(
                blocks.text_content(blocks.fence(clean(bound_text(failure(result.error)))))
            )
        elif not content and (text := bound_text(text_of(result.llm_content))):
            content.append(blocks.text_content(blocks.fence(clean(text))))
        return [*content, *blocks.pictures(result.llm_content)]

    def _usage(self, event: ev.UsageChanged, window: int) -> schema.UsageUpdate:
        used = event.step.input_tokens + event.step.output_tokens
        cost = event.total.cost
        return schema.UsageUpdate(
            session_update="usage_update",
            used=used,
            size=window,
            cost=None if cost is None else schema.Cost(amount=cost, currency="USD"),
        )


def note(text: str, hint: str = "") -> schema.AgentMessageChunk:
    """Something the program itself says, apart from what the model says."""
    lines = blocks.plain(sentences(text, hint)).split("\n")
    return helpers.update_agent_message_text("\n\n" + "\n".join(f"> {x}" for x in lines) + "\n\n")
