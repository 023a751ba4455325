"""The terminal's own notification, when somebody is needed who is looking elsewhere."""

from typing import Any

from textual.app import App

from agent_cli.safety.sanitise import clean

_MAX_CHARS = 200


def notify_terminal(app: App[Any], title: str, text: str) -> bool:
    """Ring and tell, unless the window has the focus; whether it did.

    Terminals that do not know a sequence ignore it, so both common ones are sent.
    """
    if app.app_focus or app.is_headless or app._driver is None:
        return False
    app._driver.write(notification(title, text))
    app._driver.flush()
    return True


def notification(title: str, text: str) -> str:
    """The sequences for a notification; what is told can end none of them."""
    # 777 separates its fields by semicolons.
    title, text = (
        " ".join(clean(each).split())[:_MAX_CHARS].replace(";", ",") for each in (title, text)
    )
    return f"\x1b]9;{title}: {text}\x1b\\\x1b]777;notify;{title};{text}\x1b\\\a"
