"""The profile a session goes by, and how it changes to another and back."""

import math
from collections.abc import Callable
from typing import Generic, TypeVar

from agent_cli.core.agents.agent_profile import DEFAULT, Profile
from agent_cli.core.money.budget import Budget
from agent_cli.core.policy import Mode, stricter

T = TypeVar("T")


class _Setting(Generic[T]):
    """Something a profile may replace; it comes back with the next one, unless it was changed."""

    def __init__(self, get: Callable[[], T], put: Callable[[T], None]) -> None:
        self._get = get
        self._put = put
        self._replaced: tuple[T, T] | None = None

    @property
    def own(self) -> T:
        """What it would be without the profile."""
        now = self._get()
        return self._replaced[0] if self._replaced and self._replaced[1] == now else now

    def take(self, wanted: T | None) -> None:
        """What the profile wants; None: nothing."""
        own = self.own
        new = own if wanted is None else wanted
        if new != self._get():
            self._put(new)
        self._replaced = None if wanted is None else (own, new)


class ActiveProfile:
    """What a session goes by."""

    def __init__(
        self,
        *,
        mode: tuple[Callable[[], Mode], Callable[[Mode], None]],
        model: tuple[Callable[[], str], Callable[[str], None]],
        budget: Budget,
    ) -> None:
        def put(dollars: float) -> None:
            budget.session = None if dollars == math.inf else dollars

        self.profile = DEFAULT
        """The one in force."""
        self._mode = _Setting(*mode)
        self._model = _Setting(*model)
        self._dollars = _Setting(
            lambda: math.inf if budget.session is None else budget.session, put
        )

    def change(self, profile: Profile) -> None:
        """Go by another profile; raises UserError if its model cannot be had."""
        self._model.take(profile.model or None)  # first: after a failure nothing has changed
        mode = profile.mode
        if mode is not None and profile.from_project:
            mode = stricter(self._mode.own, mode)
        self._mode.take(mode)
        budget = profile.budget
        self._dollars.take(None if budget is None else min(budget, self._dollars.own))
        self.profile = profile
