"""A session as JSON: what it is, what the model was sent, and what was shown."""

import json

from agent_cli.core.log.history import History

FORMAT = 1


def as_json(history: History) -> str:
    """One object, indented, with a newline at its end."""
    opened = history.opened
    document = {
        "format": FORMAT,
        "session": opened.session if opened else "",
        "title": history.title,
        "workspace": opened.workspace if opened else "",
        "forked_from": opened.forked_from if opened else "",
        "model": history.model,
        "mode": history.mode,
        "updated": history.updated.isoformat() if history.updated else None,
        "usage": history.usage.model_dump(mode="json"),
        "messages": [placed.message.model_dump(mode="json") for placed in history.messages],
        "events": [event.model_dump(mode="json") for event in history.events],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
