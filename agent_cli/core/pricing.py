"""Prices in words: what is not known is said, and never nothing."""

from agent_cli.core.model import Usage


def price(usage: Usage, *, places: int = 4) -> str:
    """ "$0.0123", "unknown price", or both: what is known and what is not."""
    if usage.cost is None:
        return "unknown price" if usage.unpriced else "$0"
    known = f"${usage.cost:,.{places}f}"
    if usage.unpriced:
        return f"{known} and an unknown price for {usage.unpriced:,} tokens"
    return known
