"""What the program says to the user, in the language of the interface.

    tr("{path} is not a directory.", path=path)      a text with its values
    trn("{n} file", "{n} files", count)              a text with a number
    mark("show the version and exit")                in a table: `tr` it where it is shown

English is the source, written where it is said; locale/ has the other languages as gettext
catalogues. What a model or a program reads is plain English and never comes through here.
"""

import gettext
import os

TYPE_CHECKING = False  # --help has no time for typing
if TYPE_CHECKING:
    from collections.abc import Mapping

LANGUAGES = ("en", "zh")
SOURCE = "en"
_LOCALE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "locale")  # noqa: PTH118, PTH120

_spoken = SOURCE
_catalogue: gettext.GNUTranslations | None = None


def tr(text: str, /, **values: object) -> str:
    """A text in the language of the interface, with its values filled in."""
    shown = text if _catalogue is None or not text else _catalogue.gettext(text)
    return shown.format(**values) if values else shown


def trn(one: str, many: str, number: int, /, **values: object) -> str:
    """A text with a number, `{n}`, in the form that the number takes."""
    values.setdefault("n", number)
    if _catalogue is None:
        return (one if number == 1 else many).format(**values)
    return _catalogue.ngettext(one, many, number).format(**values)


def mark(text: str) -> str:
    """A text to be translated later: makes it part of the catalogues."""
    return text


def mark_plural(one: str, many: str) -> tuple[str, str]:
    """A text with a number, `{n}`, to be translated later with `trn`."""
    return one, many


def current_language() -> str:
    """The language in use."""
    return _spoken


def use(language: str) -> None:
    """Speak this language from now on."""
    global _catalogue, _spoken  # noqa: PLW0603 (one process has one language)
    _spoken = language if language in LANGUAGES else SOURCE
    _catalogue = None
    if _spoken != SOURCE:
        name = os.path.join(_LOCALE, _spoken, "LC_MESSAGES", "agent.mo")  # noqa: PTH118
        with open(name, "rb") as file:  # noqa: PTH123
            _catalogue = gettext.GNUTranslations(file)


def choose_language(wanted: str, environment: "Mapping[str, str]") -> str:
    """The wanted language; "auto" is the locale's, if we speak it."""
    if wanted in LANGUAGES:
        return wanted
    locale = next(filter(None, map(environment.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    code = locale.partition("_")[0].partition(".")[0].lower()
    return code if code in LANGUAGES else SOURCE
