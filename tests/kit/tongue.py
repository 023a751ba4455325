"""A language for tests that shows what was translated: every text stands between ⟦ and ⟧."""

import gettext
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from agent_cli.lib import language


class _Marked(gettext.GNUTranslations):
    def __init__(self) -> None:
        """Needs no file."""

    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"


@contextmanager
def foreign_tongue() -> Iterator[None]:
    """Speak it for a while."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language, "_catalogue", _Marked())
        patch.setattr(language, "_spoken", "zh")
        yield
