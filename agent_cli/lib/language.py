"""What the program says to a person, in the person's language.

    tr("{path} is not a directory.", path=path)      a text with its values
    trn("{n} file", "{n} files", count)              a text with a number
    mark("show the version and exit")                in a table: `tr` it where it is shown

English is the source, written where it is said; locale/ has the other languages as gettext
catalogues. What a model reads stays English: `english` gives it back.
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
_given: dict[str, str] = {}
"""What `english` gave, and as what the person reads it."""
_MOST_GIVEN = 200


class Said(str):
    """A text in another language that knows its English."""

    english: str

    def __str__(self) -> str:
        return self  # so that the text of an exception knows it too


def tr(text: str, /, **values: object) -> str:
    """A text in the person's language, with its values filled in."""
    if _catalogue is None:
        return text.format(**values) if values else text
    return _said(_catalogue.gettext(text) if text else "", text, values)


def trn(one: str, many: str, number: int, /, **values: object) -> str:
    """A text with a number, `{n}`, in the form that the number takes."""
    values.setdefault("n", number)
    source = one if number == 1 else many
    if _catalogue is None:
        return source.format(**values)
    return _said(_catalogue.ngettext(one, many, number), source, values)


def mark(text: str) -> str:
    """A text to be translated later: makes it part of the catalogues."""
    return text


def english(text: str) -> str:
    """The English of a text of ours, for a model or a record; any other text as it is."""
    if not isinstance(text, Said):
        return text
    if len(_given) >= _MOST_GIVEN:
        _given.clear()
    _given[text.english] = text
    return text.english


def told(text: str) -> str:
    """What was given away in English lately, as the person reads it; any other text as it is."""
    return _given.get(text, text)


def spoken() -> str:
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


def chosen(wished: str, environment: "Mapping[str, str]") -> str:
    """The language that is wished for; "auto" is the locale's, if we speak it."""
    if wished in LANGUAGES:
        return wished
    locale = next(filter(None, map(environment.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    code = locale.partition("_")[0].partition(".")[0].lower()
    return code if code in LANGUAGES else SOURCE


def _said(shown: str, source: str, values: "Mapping[str, object]") -> Said:
    if values:
        shown = shown.format(**values)
        source = source.format(**{name: _source(value) for name, value in values.items()})
    said = Said(shown)
    said.english = source
    return said


def _source(value: object) -> object:
    """A value as it stands in the English text."""
    text = str(value) if isinstance(value, str | Exception) else value
    return text.english if isinstance(text, Said) else text
