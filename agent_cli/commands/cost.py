"""Shows what the session used."""

from agent_cli.commands._command import Command, Desk


def run(desk: Desk, argument: str) -> None:
    """Tokens and dollars so far."""
    used = desk.session.usage
    cost = "the price is not known" if used.cost is None else f"**${used.cost:.4f}**"
    desk.say(
        f"- Cost: {cost}\n"
        f"- Input: {used.input_tokens:,} tokens, {used.cached_tokens:,} of them from the cache\n"
        f"- Output: {used.output_tokens:,} tokens"
    )


COMMAND = Command(name="cost", help="tokens and dollars so far", run=run)
