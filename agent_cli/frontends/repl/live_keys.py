"""What keys do in the live region."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition, Filter, has_completions, has_focus
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from agent_cli.frontends.shared.keys import KEYS
from agent_cli.lib.language import tr

if TYPE_CHECKING:
    from agent_cli.frontends.repl.live_stage import LiveStage

TWICE = 2.0
"""Seconds within which a second Ctrl+C leaves."""
_NAMES = {
    Keys.ControlM: "enter",
    Keys.ControlJ: "enter",
    Keys.Escape: "escape",
    Keys.ControlH: "backspace",
    Keys.Up: "up",
    Keys.Down: "down",
    Keys.Tab: "tab",
    Keys.BackTab: "s-tab",
}


def bindings(stage: "LiveStage") -> KeyBindings:
    """Keys of a question first; they are passed to the prompt unless they answer it."""
    keys = KeyBindings()
    _add_question_keys(keys, stage)
    _add_line_keys(keys, stage)
    _add_prompt_keys(keys, stage)
    return keys


def _add_question_keys(keys: KeyBindings, stage: "LiveStage") -> None:
    is_asking = Condition(lambda: stage.question is not None)

    @keys.add(Keys.Any, filter=is_asking, eager=True)
    def press(event: KeyPressEvent) -> None:
        pressed = event.key_sequence[0]
        question = stage.question
        if question is None:
            return
        if pressed.key == Keys.ControlC:  # can only say no, so it needs no guard
            _cancel(stage)
        elif pressed.key == Keys.BracketedPaste:
            question.paste(pressed.data)
        elif isinstance(pressed.key, Keys):
            if name := _NAMES.get(pressed.key):
                question.press(name, "")
        else:
            question.press("", pressed.data)
        stage.changed()


def _add_line_keys(keys: KeyBindings, stage: "LiveStage") -> None:
    is_writing = has_focus(stage.own_line)

    @keys.add("enter", filter=is_writing, eager=True)
    def give(_: KeyPressEvent) -> None:
        stage.end_line(stage.own_line.text.strip())

    @keys.add("escape", filter=is_writing, eager=True)
    def go_back(_: KeyPressEvent) -> None:
        stage.end_line(None)

    @keys.add("c-c", filter=is_writing, eager=True)
    def cancel(_: KeyPressEvent) -> None:
        _cancel(stage)


def _cancel(stage: "LiveStage") -> None:
    """End whatever led to the question."""
    if stage.controller is not None and stage.controller.interrupt():
        return
    stage.end_line(None)
    if stage.question is not None:
        stage.question.leave() if stage.controller is not None else stage.question.abandon()


def _add_prompt_keys(keys: KeyBindings, stage: "LiveStage") -> None:
    is_prompt = has_focus(stage.prompt)
    left_at = float("-inf")

    @_on(keys, "send", is_prompt)
    def enter(_: KeyPressEvent) -> None:
        prompt = stage.prompt
        state = prompt.complete_state
        if state is not None and state.current_completion is not None:
            prompt.apply_completion(state.current_completion)
            if prompt.text.startswith("/"):
                stage.submit()
        elif prompt.document.text_before_cursor.endswith("\\"):
            prompt.delete_before_cursor()
            prompt.newline(copy_margin=False)
        else:
            stage.submit()

    @_on(keys, "new_line", is_prompt)
    def new_line(_: KeyPressEvent) -> None:
        stage.prompt.newline(copy_margin=False)

    @keys.add(Keys.BracketedPaste, filter=is_prompt)
    def paste(event: KeyPressEvent) -> None:
        stage.take_paste(event.data)

    @_on(keys, "interrupt", is_prompt & has_completions)
    def close(_: KeyPressEvent) -> None:
        stage.prompt.cancel_completion()

    @_on(keys, "interrupt", is_prompt & ~has_completions)
    def escape(_: KeyPressEvent) -> None:
        stage.escape()

    @_on(keys, "cancel", is_prompt)
    def clear(_: KeyPressEvent) -> None:
        nonlocal left_at
        if stage.prompt.text:
            stage.prompt.reset()
        elif stage.controller is not None and not stage.controller.interrupt():
            now = time.monotonic()
            if now - left_at < TWICE:
                stage.controller.view.leave()
            left_at = now
            stage.hint(tr("Press Ctrl+C again to quit."), TWICE)

    @_on(keys, "leave", is_prompt & Condition(lambda: not stage.prompt.text))
    def leave(_: KeyPressEvent) -> None:
        if stage.controller is not None:
            stage.controller.view.leave()

    @_on(keys, "next_mode", is_prompt & ~has_completions)
    def next_mode(_: KeyPressEvent) -> None:
        if stage.controller is not None:
            stage.controller.next_mode()

    @_on(keys, "edit", is_prompt)
    def edit(_: KeyPressEvent) -> None:
        stage.edit_prompt()


Handler = Callable[[KeyPressEvent], None]


def _on(keys: KeyBindings, action: str, where: Filter) -> Callable[[Handler], Handler]:
    """Bind the keys that the table has for an action."""

    def add(handler: Handler) -> Handler:
        for key in next(key for key in KEYS if key.action == action).of("inline"):
            keys.add(*sequence(key), filter=where)(handler)
        return handler

    return add


def sequence(key: str) -> list[str]:
    """A key as prompt_toolkit names it: "ctrl+j" is c-j, "alt+enter" is Escape and Enter."""
    *modifiers, name = key.split("+")
    prefix = "".join({"ctrl": "c-", "shift": "s-", "alt": ""}[each] for each in modifiers)
    return [*(["escape"] if "alt" in modifiers else []), prefix + name]
