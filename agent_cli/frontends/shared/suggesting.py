"""What a reply suggests to say next; several lines are suggested one after the other."""


def first_of(suggestion: str) -> str:
    """What Enter on an empty prompt says."""
    return suggestion.partition("\n")[0]


def left_of(suggestion: str, said: str) -> str:
    """What is suggested still once something was said: what follows if it was the suggestion."""
    first, _, rest = suggestion.partition("\n")
    return rest if said == first else ""
