"""Prices in words: what is not known is said, and never nothing."""

from agent_cli.core.model import Usage
from agent_cli.lib.language import tr


def price(usage: Usage, *, places: int = 4) -> str:
    """ "$0.0123", "unknown price", or both: what is known and what is not."""
    if usage.cost is None:
        return tr("unknown price") if usage.unpriced else "$0"
    known = f"${usage.cost:,.{places}f}"
    if usage.unpriced:
        return tr(
            "{known} and an unknown price for {tokens:,} tokens", known=known, tokens=usage.unpriced
        )
    return known


def short_price(usage: Usage) -> str:
    """For a line with little room: "$0.12", "$?", or "$0.12+?" if a part is not known."""
    if usage.cost is None:
        return "$?" if usage.unpriced else "$0.00"
    return f"${usage.cost:.2f}" + ("+?" if usage.unpriced else "")
