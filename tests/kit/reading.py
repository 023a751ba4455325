"""Reading a screen as a person does: a text that wraps, in a box too, is still that text."""

import re

_BREAK = re.compile(r"[ \t]*[│┃▌▎|]?[ \t]*\n[ \t]*[│┃▌▎|]?[ \t]*")


def stands_on(shown: str, text: str) -> bool:
    """Whether a text is on the screen, whatever lines it was broken into.

    How long a path is depends on where the tests run, and so does where its line breaks.
    """
    return text in shown or text.replace(" ", "") in _BREAK.sub("", shown).replace(" ", "")
