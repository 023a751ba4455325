"""Writes what happens in a turn into the transcript."""

from collections.abc import Iterable

from agent_cli.controller.endings import has_failed, retrying, stop_reason
from agent_cli.core import events as ev
from agent_cli.frontends.tui.blocks.compaction_block import CompactionBlock
from agent_cli.frontends.tui.blocks.notice_block import ErrorBlock, NoticeBlock
from agent_cli.frontends.tui.blocks.prompt_block import PromptBlock
from agent_cli.frontends.tui.blocks.receipt_block import ReceiptBlock
from agent_cli.frontends.tui.blocks.reply_block import ReplyBlock
from agent_cli.frontends.tui.blocks.thinking_block import ThinkingBlock
from agent_cli.frontends.tui.blocks.tool_block import ToolBlock
from agent_cli.frontends.tui.transcript import Transcript
from agent_cli.lib.garbage import pause_collection


class TranscriptWriter:
    """Keeps the blocks of the running turn and changes them as events come."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._streaming: ReplyBlock | ThinkingBlock | None = None
        self._calls: dict[str, ToolBlock] = {}
        self._is_past = False

    def forget(self) -> None:
        self._close()
        self._calls.clear()

    def set_asking(self, call_id: str, *, asking: bool) -> None:
        """A call waits for the user, or no longer does."""
        if block := self._calls.get(call_id):
            block.asking() if asking else block.resume()
            self._transcript.refresh_block(block)

    def replay(self, events: Iterable[ev.Event]) -> None:
        """Draw what happened in earlier turns."""
        self._is_past = True
        with pause_collection(), self._transcript.filling():
            for event in events:
                self.write(event)
            self._close()
        self._is_past = False

    def write(self, event: ev.Event) -> None:
        match event:
            case ev.TextDelta():
                self._stream(ReplyBlock, event.text)
            case ev.ThinkingDelta():
                self._stream(ThinkingBlock, event.text)
            case ev.ToolStarted(is_folded=False):
                self._close()
                block = self._calls[event.call_id] = ToolBlock(event)
                self._transcript.add(block)
            case ev.ToolProgress():
                if running := self._calls.get(event.call_id):
                    running.progress(event)
                    self._transcript.refresh_block(running)
            case ev.ToolFinished():
                if finished := self._calls.pop(event.call_id, None):
                    finished.finish(event)
                    self._transcript.refresh_block(finished)
            case ev.PromptAdded():
                self._close()
                self._transcript.add(PromptBlock(event.text))
            case ev.Notice():
                self._transcript.add(NoticeBlock(event.text, event.hint, event.level))
            case ev.ModelRetrying():
                self._close()
                self._transcript.add(NoticeBlock(retrying(event), level="warning"))
            case ev.HistoryCompacted():
                self._close()
                self._transcript.add(CompactionBlock(event))
            case ev.TurnFinished():
                self._end(event)
            case _:
                pass

    def _stream(self, kind: type[ReplyBlock | ThinkingBlock], text: str) -> None:
        if not isinstance(self._streaming, kind):
            self._close()
            past = self._is_past
            self._streaming = ReplyBlock() if kind is ReplyBlock else ThinkingBlock(timed=not past)
            self._transcript.add(self._streaming)
        self._streaming.append(text)
        self._transcript.refresh_block(self._streaming)

    def _end(self, event: ev.TurnFinished) -> None:
        self._close()
        if line := event.receipt.line(event.usage):
            self._transcript.add(ReceiptBlock(line, event.receipt.details()))
        if has_failed(event):
            self._transcript.add(ErrorBlock(event.error, event.hint))
        elif text := stop_reason(event):
            self._transcript.add(NoticeBlock(text, event.hint, "warning"))

    def _close(self) -> None:
        """What streamed so far is whole."""
        if self._streaming is not None:
            self._streaming.finish()
            self._transcript.refresh_block(self._streaming)
        self._streaming = None
