"""Sets of names, written as text so that long ones stay readable."""


def names(text: str) -> frozenset[str]:
    """The words of the text."""
    return frozenset(text.split())
