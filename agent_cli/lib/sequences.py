"""Small questions about sequences."""

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def common_start(one: Iterable[T], other: Iterable[T]) -> int:
    """With how many equal items both begin."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
