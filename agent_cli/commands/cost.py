"""Shows what the session used and what that cost."""

from collections.abc import Iterable

from agent_cli.commands._command import Command, Desk
from agent_cli.core.model import Usage
from agent_cli.core.pricing import price
from agent_cli.core.spending import Account

LAST_TURNS = 10
HEAD = (
    "| {what} | requests | input | from cache | output | cost |\n|---|---:|---:|---:|---:|---:|\n"
)


def run(desk: Desk, argument: str) -> None:
    """Tokens and dollars: in all, by model, by turn."""
    spending = desk.session.spending
    total = spending.total
    if not spending.models:
        desk.say("Nothing was used yet.")
        return
    models = (_row(f"`{name}`", account) for name, account in spending.models.items())
    turns = [turn for turn in spending.turns if turn.requests]
    shown = (_row(str(turn.number), turn) for turn in turns[-LAST_TURNS:])
    older = len(turns) - LAST_TURNS
    desk.say(
        f"**{price(total)}** so far. Input: {_input(total)}. Output: {total.output_tokens:,} "
        f"tokens.\n\n{_table('model', models)}\n\n{_table('turn', shown)}"
        + (f"\n\n{older:,} earlier turns are not listed." if older > 0 else "")
    )


def _input(used: Usage) -> str:
    uncached = used.input_tokens - used.cached_tokens
    return (
        f"{used.input_tokens:,} tokens, {used.cached_tokens:,} of them from the cache and "
        f"{uncached:,} not"
    )


def _table(what: str, rows: Iterable[str]) -> str:
    return HEAD.format(what=what) + "\n".join(rows)


def _row(what: str, account: Account) -> str:
    used = account.usage
    return (
        f"| {what} | {account.requests:,} | {used.input_tokens:,} | {used.cached_tokens:,} "
        f"| {used.output_tokens:,} | {price(used)} |"
    )


COMMAND = Command(name="cost", help="tokens and dollars, by model and turn", run=run)
