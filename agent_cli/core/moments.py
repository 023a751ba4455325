"""When hooks are told of something."""

from typing import Literal

Moment = Literal[
    "session_start",
    "session_end",
    "prompt",
    "before_tool",
    "after_tool",
    "approval",
    "turn_end",
    "compaction",
]
