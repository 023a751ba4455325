"""What leaves a tool: bounded, without secrets, valid text, before the model or a log sees it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from agent_cli.core.messages import Content, TextPart
from agent_cli.core.tool import ToolResult
from agent_cli.lib.files import private_directory, write_atomic
from agent_cli.lib.text import head_and_tail
from agent_cli.safety.reasons import Reason
from agent_cli.safety.redact import Redactor
from agent_cli.safety.sanitise import for_model

B = TypeVar("B", bound=BaseModel)


class ResultFilter:
    """Prepares results; whole texts of cut ones go to private files the model can Read."""

    def __init__(self, redactor: Redactor, spill: Path) -> None:
        self._redactor = redactor
        self._spill = spill

    def redact(self, text: str) -> str:
        """The text without secrets."""
        return self._redactor.redact(text)

    def prepare(self, result: ToolResult, call_id: str, max_chars: int) -> ToolResult:
        """The result as it may leave, with at most so many characters for the model."""
        content = self._each_text(
            result.llm_content, lambda text: self._fit(text, call_id, max_chars)
        )
        return result.model_copy(
            update={
                "llm_content": content,
                "display": tuple(map(self.clean_display, result.display)),
                "summary": self._clean(result.summary),
                "error": self.clean_display(result.error) if result.error else None,
            }
        )

    def clean_display(self, shown: B) -> B:
        """What the user is shown, without what must not reach a log either."""
        texts = {name: value for name, value in shown if isinstance(value, str | tuple) and value}
        clean = {name: self._clean_value(value) for name, value in texts.items()}
        return shown.model_copy(update=clean) if clean != texts else shown

    def _clean_value(self, value: Any) -> Any:
        """A text, or texts in rows; anything else stays as it is."""
        if isinstance(value, str):
            return self._clean(value)
        if isinstance(value, tuple):
            return tuple(map(self._clean_value, value))
        if isinstance(value, Reason):
            kept = {name: self._clean_value(each) for name, each in value.values.items()}
            return Reason(value.code, kept)
        return self.clean_display(value) if isinstance(value, BaseModel) else value

    def _clean(self, text: str) -> str:
        return self._redactor.redact(for_model(text)[0])

    @staticmethod
    def _each_text(content: Content, change: Callable[[str], str]) -> Content:
        if isinstance(content, str):
            return change(content)
        return tuple(
            TextPart(text=change(part.text)) if isinstance(part, TextPart) else part
            for part in content
        )

    def _fit(self, text: str, call_id: str, max_chars: int) -> str:
        text, removed = for_model(text)
        text = self._redactor.redact(text)
        if removed:
            text += "\n[Invisible or invalid characters were removed from this text.]"
        if len(text) <= max_chars:
            return text
        kept = self._keep(text, call_id)
        where = f"The whole text is in {kept}" if kept else "The rest could not be kept"
        return head_and_tail(text, max_chars, f"[… {{left_out:,}} characters left out. {where}.]")

    def _keep(self, text: str, call_id: str) -> Path | None:
        name = "".join(c if c.isalnum() or c in "-_" else "-" for c in call_id)[:80]
        path = self._spill / f"{name}.txt"
        try:
            private_directory(self._spill)
            write_atomic(path, text.encode(), mode=0o600)
        except OSError:
            return None
        return path
