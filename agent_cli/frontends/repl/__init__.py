"""The inline frontend: the same session in the terminal's own scrollback."""
