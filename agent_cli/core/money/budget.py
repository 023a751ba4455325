"""How many dollars may be spent, and what happens as they are.

At 70 % the user is told, at 90 % the model is told to wrap up, and when all is spent the user
is asked. Only between two steps, never in the middle of a call.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agent_cli.core.errors import AgentError
from agent_cli.core.events import Event, Notice
from agent_cli.core.inbox import Choice, Question
from agent_cli.core.money.spending import Spending
from agent_cli.lib.language import mark, tr

BudgetScope = Literal["session", "day"]

TELL_AT = 0.7
WRAP_UP_AT = 0.9
RAISE_SHARE = 0.25
"""The share of the budget that a cheaper model may use on top before the user is asked again."""
WRAP_UP = (
    "[{whose} budget is nearly used up: ${spent:.2f} of ${limit:.2f}. Begin nothing new. Bring "
    "what you are doing into a good state, then say what is done and what remains.]"
)
WHOSE: dict[BudgetScope, str] = {"session": "This session's", "day": "Today's"}
_AMOUNT = re.compile(r"(?:raise to )?\$?\s*(\d+(?:[.,]\d+)?)", re.IGNORECASE)


class OutOfBudget(AgentError):
    """Nothing more may be spent."""


@dataclass(frozen=True)
class SpendingLimit:
    """One limit, and how far it is used."""

    scope: BudgetScope
    limit: float
    spent: float

    @property
    def share(self) -> float:
        """From 0 to 1, or more."""
        return self.spent / self.limit

    @property
    def setting(self) -> str:
        """Where it can be changed."""
        return "--max-cost (budget.session)" if self.scope == "session" else "budget.day"

    def describe(self, text: str, cause: str = "") -> str:
        """A text about it: whose it is, and how much of it is used, "$0.71 of $1.00"."""
        whose = tr("This session's budget") if self.scope == "session" else tr("Today's budget")
        amounts = tr("${spent:.2f} of ${limit:.2f}", spent=self.spent, limit=self.limit)
        return tr(text, budget=whose, share=self.share, amounts=amounts, cause=cause)


@dataclass
class Budget:
    """The limits, and what counts towards them."""

    spending: Spending
    session: float | None = None
    day: float | None = None
    others_today: Callable[[], float] = lambda: 0.0
    """What other sessions have spent today."""

    def allowances(self) -> Iterator[SpendingLimit]:
        """Each limit there is."""
        if self.session is not None:
            yield SpendingLimit("session", self.session, self.spending.dollars)
        if self.day is not None:
            spent = self.others_today() + self.spending.dollars_today
            yield SpendingLimit("day", self.day, spent)

    def raise_to(self, scope: BudgetScope, amount: float) -> None:
        """Allow more."""
        setattr(self, scope, amount)


class BudgetCheck(Protocol):
    """Looks at a budget before each step of a turn, and at its end."""

    async def check(self) -> str | None:
        """Returns a model to switch to, if the user chose one; raises OutOfBudget."""

    def tell(self) -> None:
        """Say what has not been said yet."""


@dataclass
class BudgetGuard:
    """Looks at the budget before each step and does what is to be done."""

    budget: Budget
    emit: Callable[[Event], None]
    ask: Callable[[Question], Awaitable[str | None]]
    """The user's answer; None where there is nobody to ask."""
    tell_model: Callable[[str], None]
    cause: Callable[[], str]
    """What the money went to, in a sentence."""
    cheaper: Callable[[], Awaitable[Sequence[str]]]
    """Models that are known to cost less than the one in use."""
    _told: set[tuple[BudgetScope, float, float]] = field(default_factory=set)
    _told_unpriced: bool = False

    async def check(self) -> str | None:
        """Returns a model to switch to, if the user chose one; raises OutOfBudget."""
        self._tell_unpriced()
        chosen = None
        for allowance in self.budget.allowances():
            if allowance.share >= 1:
                chosen = await self._ask_for_more(allowance) or chosen
            elif allowance.share >= WRAP_UP_AT and self._is_news(allowance, WRAP_UP_AT):
                self._wrap_up(allowance)
            elif allowance.share >= TELL_AT and self._is_news(allowance, TELL_AT):
                self._tell(allowance)
        return chosen

    def tell(self) -> None:
        """At the end of a turn: what the user has not been told yet."""
        self._tell_unpriced()
        for allowance in self.budget.allowances():
            if allowance.share >= TELL_AT and self._is_news(allowance, TELL_AT):
                self._tell(allowance)

    def _is_news(self, allowance: SpendingLimit, level: float) -> bool:
        """Each level is told once, and again when the budget has been raised."""
        key = (allowance.scope, allowance.limit, level)
        if key in self._told:
            return False
        self._told.add(key)
        return True

    def _tell_unpriced(self) -> None:
        budget = self.budget
        unpriced = budget.spending.total.unpriced
        if self._told_unpriced or not unpriced or (budget.session, budget.day) == (None, None):
            return
        self._told_unpriced = True
        names = [n for n, account in budget.spending.models.items() if account.usage.unpriced]
        text = tr(
            "The price of {models} is unknown, so its usage can't be counted towards the budget.",
            models=", ".join(names),
        )
        hint = tr('Set input_price and output_price in [models."…"].')
        self.emit(Notice(level="warning", text=text, hint=hint))

    def _tell(self, allowance: SpendingLimit) -> None:
        text = mark("{budget} is {share:.0%} used: {amounts}. {cause}")
        self.emit(Notice(text=allowance.describe(text, self.cause())))

    def _wrap_up(self, allowance: SpendingLimit) -> None:
        self._is_news(allowance, TELL_AT)  # the greater news says it too
        text = mark(
            "{budget} is {share:.0%} used: {amounts}. The model was told to wrap up. {cause}"
        )
        self.emit(Notice(level="warning", text=allowance.describe(text, self.cause())))
        whose, spent, limit = WHOSE[allowance.scope], allowance.spent, allowance.limit
        self.tell_model(WRAP_UP.format(whose=whose, spent=spent, limit=limit))

    async def _ask_for_more(self, allowance: SpendingLimit) -> str | None:
        """Ask how to go on: more money, a cheaper model, or not at all."""
        said = allowance.describe(mark("{budget} is used up: {amounts}."))
        times = int(allowance.share + 0.001) + 1
        raised = round(times * allowance.limit, 2)
        raising = tr("Raise to ${amount:.2f}", amount=raised)
        more = allowance.spent + RAISE_SHARE * allowance.limit
        switches = {tr("Switch to {model}", model=name): name for name in await self.cheaper()}
        cheaper = tr("costs less; you'll be asked again at ${amount:.2f}", amount=more)
        question = Question(
            text=tr(
                "{said} {cause}\n\nWhat now? You can also type a new limit.",
                said=said,
                cause=self.cause(),
            ),
            choices=(
                Choice(label=tr("Stop"), description=tr("send nothing more")),
                Choice(label=raising),
                *(Choice(label=label, description=cheaper) for label in switches),
            ),
        )
        while True:
            answer = await self.ask(question)
            if answer in switches:
                self.budget.raise_to(allowance.scope, more)
                return switches[answer]
            wanted = raised if answer == raising else _amount(answer or "")
            if wanted is None:
                hint = tr("Raise {setting} to continue.", setting=allowance.setting)
                raise OutOfBudget(said, hint=hint)
            if wanted > allowance.spent:
                self.budget.raise_to(allowance.scope, wanted)
                return None
            text = tr("${amount:.2f} has already been spent.", amount=wanted)
            question = question.model_copy(update={"text": f"{text} {question.text}"})


def _amount(answer: str) -> float | None:
    """The dollars that the user named; None if it was something else."""
    found = _AMOUNT.fullmatch(answer.strip())
    return float(found[1].replace(",", ".")) if found else None
