"""Shows what the session used and what that cost."""

from collections.abc import Iterable

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import slash_command
from agent_cli.core.model import Usage
from agent_cli.core.money.pricing import price
from agent_cli.core.money.spending import Account
from agent_cli.lib.language import mark, tr

LAST_TURNS = 10
HEAD = mark("| {what} | requests | input | from cache | output | cost |")
RULE = "|---|---:|---:|---:|---:|---:|"


@slash_command("cost", mark("show tokens and cost, by model and turn"))
def run(controller: Controller, argument: str) -> None:
    """Tokens and dollars: in all, by model, by turn."""
    spending = controller.session.spending
    total = spending.total
    if not spending.models:
        controller.view.say(tr("Nothing used yet."))
        return
    models = (_row(f"`{name}`", account) for name, account in spending.models.items())
    turns = [turn for turn in spending.turns if turn.requests]
    shown = (_row(str(turn.number), turn) for turn in turns[-LAST_TURNS:])
    older = len(turns) - LAST_TURNS
    parts = [_summary(total), _table(tr("model"), models), _table(tr("turn"), shown)]
    if total.estimated_tokens:
        parts.insert(1, _format_estimate(total))
    if older > 0:
        parts.append(tr("{n:,} earlier turns not shown.", n=older))
    controller.view.say("\n\n".join(parts))


def _summary(used: Usage) -> str:
    return tr(
        "**{price}** so far. Input: {input:,} tokens, {cached:,} of them from the cache and "
        "{uncached:,} not. Output: {output:,} tokens.",
        price=price(used),
        input=used.input_tokens,
        cached=used.cached_tokens,
        uncached=used.input_tokens - used.cached_tokens,
        output=used.output_tokens,
    )


def _format_estimate(used: Usage) -> str:
    return tr(
        "{n:,} of these tokens are estimated: the requests ended before the provider counted them.",
        n=used.estimated_tokens,
    )


def _table(what: str, rows: Iterable[str]) -> str:
    return "\n".join((tr(HEAD, what=what), RULE, *rows))


def _row(what: str, account: Account) -> str:
    used = account.usage
    return (
        f"| {what} | {account.requests:,} | {used.input_tokens:,} | {used.cached_tokens:,} "
        f"| {used.output_tokens:,} | {price(used)} |"
    )
