"""Other names under which models ask for tools and give parameters, written as lists of words."""


def names(text: str) -> tuple[str, ...]:
    """The names in a text, in order."""
    return tuple(text.split())


def other_names(**others: str) -> dict[str, str]:
    """By other name, the one it stands for; given are the other names of each."""
    return {other: name for name, given in others.items() for other in given.split()}
