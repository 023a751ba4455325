"""The keys of the inline prompt, for its help."""

from agent_cli.lib.language import mark

KEYS = (
    ("Enter", mark("send")),
    ("Alt+Enter", mark("new line; also Ctrl+J, or \\ before Enter")),
    ("Esc", mark("stop the turn; take a waiting message back")),
    (mark("Enter on nothing"), mark("send what waits into the turn under way")),
    ("Ctrl+C", mark("clear the prompt, then stop the turn, then (twice) leave")),
    ("Shift+Tab", mark("next mode")),
    ("↑ ↓", mark("earlier prompts")),
    ("Ctrl+R", mark("search earlier prompts")),
    ("Ctrl+G", mark("write in your editor")),
    ("Tab", mark("complete a /command or an @file")),
    ("!", mark("a shell command of your own; the model sees what it prints")),
)
