"""The keys of the inline prompt, for its help."""

KEYS = (
    ("Enter", "send"),
    ("Alt+Enter", "new line; also Ctrl+J, or \\ before Enter"),
    ("Esc", "stop the turn; take a waiting message back"),
    ("Enter on nothing", "send what waits into the turn under way"),
    ("Ctrl+C", "clear the prompt, then stop the turn, then (twice) leave"),
    ("Shift+Tab", "next mode"),
    ("↑ ↓", "earlier prompts"),
    ("Ctrl+R", "search earlier prompts"),
    ("Ctrl+G", "write in your editor"),
    ("Tab", "complete a /command or an @file"),
    ("!", "a shell command of your own; the model sees what it prints"),
)
