"""The terminal's notification."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent_cli.frontends.tui.notify import notification, notify_terminal


def app(*, focused: bool, sent: list[str]) -> Any:
    driver = SimpleNamespace(write=sent.append, flush=lambda: None)
    return cast("Any", SimpleNamespace(app_focus=focused, is_headless=False, _driver=driver))


@pytest.mark.parametrize("focused", [True, False])
def test_it_is_sent_only_when_the_window_is_not_looked_at(focused: bool) -> None:
    sent: list[str] = []
    assert notify_terminal(app(focused=focused, sent=sent), "agent", "needs you") is not focused
    assert len(sent) == (not focused)


def test_both_common_sequences_and_the_bell_are_sent() -> None:
    assert notification("agent", "run; rm?") == (
        "\x1b]9;agent: run, rm?\x1b\\\x1b]777;notify;agent;run, rm?\x1b\\\a"
    )
