"""Times rivals side by side."""

import statistics
import time
from collections.abc import Callable, Mapping


def seconds(work: Callable[[], object]) -> float:
    """How long one go takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def samples(
    rivals: Mapping[str, Callable[[], float]], rounds: int, *, warm_up: int = 1
) -> dict[str, list[float]]:
    """What each measured in each round; they take turns, so that noise falls on all alike."""
    taken: dict[str, list[float]] = {name: [] for name in rivals}
    for number in range(-warm_up, rounds):
        for name, measure in rivals.items():
            value = measure()
            if number >= 0:
                taken[name].append(value)
    return taken


def medians(
    rivals: Mapping[str, Callable[[], float]], rounds: int, *, warm_up: int = 1
) -> dict[str, float]:
    """The median of each."""
    taken = samples(rivals, rounds, warm_up=warm_up)
    return {name: statistics.median(values) for name, values in taken.items()}


def ratio(ours: list[float], theirs: list[float]) -> float:
    """The median of the ratios round by round: a slow moment hits both sides of each."""
    return statistics.median(own / other for own, other in zip(ours, theirs, strict=True))
