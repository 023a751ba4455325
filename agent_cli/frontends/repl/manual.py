"""The keys of the inline prompt, for its help."""

from agent_cli.lib.language import mark

KEYS = (
    ("Enter", mark("send")),
    ("Alt+Enter", mark("new line; also Ctrl+J, or \\ before Enter")),
    ("Esc", mark("stop the agent, or edit the last queued message")),
    (mark("Enter on an empty prompt"), mark("send the queued message now")),
    ("Ctrl+C", mark("clear the prompt, stop the agent, or quit (twice)")),
    ("Shift+Tab", mark("next permission mode")),
    ("↑ ↓", mark("earlier prompts")),
    ("Ctrl+R", mark("search earlier prompts")),
    ("Ctrl+G", mark("open the prompt in your editor")),
    ("Tab", mark("complete a /command or an @file")),
    ("!", mark("run a shell command; the model sees its output")),
)
