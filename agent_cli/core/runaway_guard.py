"""Notices a reply that does not end by itself."""

from agent_cli.lib.language import tr

MAX_REPLY_CHARS = 2_000_000
"""Characters."""
MAX_BLANK_CHARS = 4_000
"""Characters of nothing but white space: a small model that has lost its way."""


class RunawayGuard:
    """Follows one reply while it streams."""

    def __init__(self) -> None:
        self._length = 0
        self._blank = 0

    def see(self, text: str) -> str | None:
        """Take note of a piece; returns what is wrong when the reply should be cut."""
        self._length += len(text)
        blank = len(text) - len(text.rstrip())
        self._blank = self._blank + blank if blank == len(text) else blank
        if self._length > MAX_REPLY_CHARS:
            return tr(
                "The reply was cut off: it was longer than {most:,} characters.",
                most=MAX_REPLY_CHARS,
            )
        if self._blank > MAX_BLANK_CHARS:
            return tr("The reply was cut off: the model wrote nothing but whitespace.")
        return None
