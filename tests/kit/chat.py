"""A chat to show: a tiny app around a transcript, and blocks with something in them."""

from collections.abc import Sequence

from textual.app import App, ComposeResult

from agent_cli.core.display import DiffBlock, Display, TerminalBlock
from agent_cli.core.events import ToolFinished, ToolProgress, ToolStarted
from agent_cli.core.tool import ToolError, ToolResult
from agent_cli.frontends.tui.blocks.banner_block import BannerBlock
from agent_cli.frontends.tui.blocks.base_block import Block
from agent_cli.frontends.tui.blocks.notice_block import ErrorBlock, NoticeBlock
from agent_cli.frontends.tui.blocks.prompt_block import PromptBlock
from agent_cli.frontends.tui.blocks.reply_block import ReplyBlock
from agent_cli.frontends.tui.blocks.thinking_block import ThinkingBlock
from agent_cli.frontends.tui.blocks.tool_block import ToolBlock
from agent_cli.frontends.tui.transcript import Transcript
from agent_cli.frontends.tui.working import WorkingLine

DIFF = """--- a/app/auth.py
+++ b/app/auth.py
@@ -40,4 +40,6 @@
 # who may come in
 def check(user, password):
-    return user.password == password
+    if user is None:
+        return False
+    return verify(password, user.password_hash)
 # and who not
"""
REPLY = """The test failed because **passwords were compared as text**. I changed `check` so that it

1. refuses an unknown user,
2. compares hashes with `verify`, see [the manual](https://docs.example.org/verify).

```python
def check(user: User | None, password: str) -> bool:
    if user is None:  # nobody
        return False
    return verify(password, user.password_hash)
```

| file | lines | why |
|:-----|------:|:----|
| app/auth.py | 4 | compare hashes |
| tests/test_login.py | 12 | the case that failed |

> Nothing else was touched.
"""


class ChatApp(App[None]):
    """A transcript over a working line."""

    CSS = "Screen { layout: vertical; }"

    def __init__(self, blocks: Sequence[Block] = ()) -> None:
        super().__init__()
        self.transcript = Transcript()
        self.working = WorkingLine(clock=lambda: 0.0)
        self._blocks = blocks
        self.posted: list[object] = []

    def compose(self) -> ComposeResult:
        yield self.transcript
        yield self.working

    def on_mount(self) -> None:
        for block in self._blocks:
            self.transcript.add(block)
        self.transcript.flush()

    def on_transcript_retry_asked(self, message: Transcript.RetryAsked) -> None:
        self.posted.append(message)

    def rows(self) -> list[str]:
        """What the transcript shows, row by row."""
        height = self.transcript.size.height
        return [self.transcript.render_line(y).text.rstrip() for y in range(height)]

    def screen_text(self) -> str:
        return "\n".join(self.rows())


def call(
    tool: str,
    title: str,
    *,
    summary: str = "",
    seconds: float = 0.04,
    display: Sequence[Display] = (),
    told: str = "",
    failed: str = "",
    parent: str | None = None,
    call_id: str = "1",
) -> ToolBlock:
    """A call that is over."""
    block = running(tool, title, parent=parent, call_id=call_id)
    error = ToolError(type="execution", message=failed) if failed else None
    result = ToolResult(
        success=not failed, summary=summary, display=tuple(display), llm_content=told, error=error
    )
    block.finish(ToolFinished(call_id=call_id, tool=tool, result=result, seconds=seconds))
    return block


def running(
    tool: str,
    title: str,
    *,
    output: str = "",
    status: str = "running",
    parent: str | None = None,
    call_id: str = "1",
    seconds: float = 0.0,
) -> ToolBlock:
    """A call that still runs."""
    times = [0.0]
    started = ToolStarted(
        call_id=call_id,
        tool=tool,
        title=title,
        status=status,
        arguments={"what": title},
        parent_id=parent,
    )
    block = ToolBlock(started, clock=lambda: times[0])
    times[0] = seconds
    if output:
        block.progress(ToolProgress(call_id=call_id, text=output))
    return block


def edit() -> ToolBlock:
    """A call that changed a file."""
    change = DiffBlock(path="app/auth.py", diff=DIFF, added=3, removed=1)
    return call("Edit", "app/auth.py", summary="+3 −1", display=[change])


def turn() -> list[Block]:
    """A whole turn with a bit of everything."""
    thinking = ThinkingBlock(clock=iter((0.0, 3.2)).__next__)
    thinking.append("Where is it?")
    thinking.finish()
    asking = running("Bash", "rm -rf build", seconds=2.0)
    asking.asking()
    return [
        BannerBlock(
            place="~/src/shop",
            branch="main ±2",
            facts=["claude-sonnet-4-5", "default mode", "sandbox: bubblewrap"],
        ),
        PromptBlock("make the login test pass"),
        thinking,
        ReplyBlock("I'll look at the failing test first."),
        call("Grep", '"def test_login" in tests/', summary="2 matches in 1 file", seconds=0.1),
        call("Read", "tests/test_login.py 1-64", summary="64 lines"),
        call("Agent", "find out who calls check()", summary="3 calls", seconds=12),
        call("Read", "app/views.py 10-40", summary="31 lines", parent="1"),
        edit(),
        call(
            "Bash",
            "ruff check .",
            failed="exit 1",
            summary="exit 1",
            display=[
                TerminalBlock(
                    command="ruff check .",
                    output="app/auth.py:3:1 F401 unused\nFound 1 error.\n",
                    exit_code=1,
                )
            ],
        ),
        call(
            "Read",
            "app/nothing.py",
            failed="There is no file app/nothing.py.",
            summary="There is no file app/nothing.py.",
        ),
        asking,
        running(
            "Bash",
            "pytest -q tests/test_login.py",
            output="\x1b[32m....\x1b[31mF\x1b[0m..\n",
            seconds=3.4,
        ),
        ReplyBlock(REPLY),
        NoticeBlock("The conversation was shortened to fit the model's window.", level="info"),
        NoticeBlock(
            "The budget for this session is nearly used.",
            "/cost shows where it went.",
            level="warning",
        ),
        ErrorBlock("No key for Anthropic.", "Set ANTHROPIC_API_KEY or run `agent setup`."),
    ]
