"""The table of keys as Textual wants it."""

from textual.binding import Binding, BindingType

from agent_cli.frontends.shared.keys import Scope, bindings_for


def bindings(scope: Scope) -> list[BindingType]:
    return [
        Binding(",".join(key.keys), key.action, key.does, show=False, priority=key.priority)
        for key in bindings_for(scope)
    ]
