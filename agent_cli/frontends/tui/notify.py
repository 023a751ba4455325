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
    shown_title = _clean_text(title).replace(";", ",")
    shown = _clean_text(text).replace(";", ",")
    return f"\x1b]9;{shown_title}: {shown}\x1b\\\x1b]777;notify;{shown_title};{shown}\x1b\\\a"


def _clean_text(text: str) -> str:
    return " ".join(clean(text).split())[:_MAX_CHARS]
