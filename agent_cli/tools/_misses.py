"""Why a passage is not found in a file: the closest one, and precisely what differs."""

import difflib
import html
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from agent_cli.lib.encodings import readable
from agent_cli.tools._matching import LineNumbers

_LONGEST_SEARCH = 1.0
"""Seconds spent on finding what may have been meant."""
_MOST_SHOWN = 30
_WIDTH = 240
_LONGEST_PASSAGE = 100_000
_WORD = re.compile(r"\w+")
_NUMBERS = re.compile(r"^ *\d+\t", re.MULTILINE)
_ESCAPE = re.compile(r"""\\([nrt"'\\])""")
_ESCAPED = {"n": "\n", "r": "", "t": "\t", '"': '"', "'": "'", "\\": "\\"}
_TYPOGRAPHY = str.maketrans(
    "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2010\u2011\u2012\u2013\u2014\u2212\xa0\u202f",
    "''''\"\"\"\"------  ",
)


@dataclass(frozen=True)
class Miss:
    """What is known about a passage that is not there."""

    reason: str
    """A sentence or two: what differs and what to do."""
    passage: str = ""
    """The closest passage of the file against what was asked for, as a small diff."""


def explain(text: str, wanted: str) -> Miss:
    """The most precise thing that can be said. Both texts have LF line breaks."""
    if len(wanted) > _LONGEST_PASSAGE:
        return Miss("It is very long; replace a shorter passage, or several ones with edits.")
    lines = text.split("\n")
    return (
        _damaged(text, wanted)
        or _folded(lines, wanted)
        or _closest(lines, wanted)
        or Miss("Nothing in the file is close to it. Read the file again.")
    )


_REPAIRS: tuple[tuple[Callable[[str], str], str], ...] = (
    (
        lambda text: _NUMBERS.sub("", text),
        "It carries the line numbers that Read puts before each line; leave them out.",
    ),
    (
        lambda text: _ESCAPE.sub(lambda found: _ESCAPED[found[1]], text),
        "It is escaped once too often: it has a backslash before what stands plainly in the file "
        "(a line break, a tab, a quote). Send the text as it stands in the file.",
    ),
    (html.unescape, "It is HTML-escaped (&lt; &amp; and the like); the file is not."),
    (str.strip, "Without the blank space at its beginning or end it would be found."),
)


def _damaged(text: str, wanted: str) -> Miss | None:
    """Text that was changed on its way here, in a way that can be undone to check."""
    for repair, reason in _REPAIRS:
        repaired = repair(wanted)
        if repaired and repaired != wanted and (at := text.find(repaired)) >= 0:
            return Miss(f"{reason} The passage is at line {LineNumbers(text).at(at)}.")
    if "«secret" in wanted:
        return Miss(
            "It holds «secret…», which stands for a value that was hidden from you. "
            "Choose a passage without it."
        )
    return None


def _folded(lines: list[str], wanted: str) -> Miss | None:
    """A passage that is the same but for blanks, look-alike characters or case."""
    wanted_lines = wanted.split("\n")
    kinds: tuple[tuple[Callable[[str], str], Callable[[int, list[str], list[str]], str]], ...] = (
        (_without_blanks, _blanks_differ),
        (_look, _characters_differ),
        (lambda line: _look(_without_blanks(line)).casefold(), _case_differs),
    )
    for fold, reason in kinds:
        first = _find_folded(lines, wanted_lines, fold)
        if first is not None:
            there = lines[first : first + len(wanted_lines)]
            return Miss(reason(first, there, wanted_lines), _small_diff(wanted_lines, there, first))
    return None


def _find_folded(lines: list[str], wanted: list[str], fold: Callable[[str], str]) -> int | None:
    """The index of the first line of a passage that is equal after folding.

    The first and last line of what is wanted may be parts of lines.
    """
    deadline = time.monotonic() + _LONGEST_SEARCH / 2
    folded = [fold(line) for line in wanted]
    if not any(folded):
        return None
    head, inner, tail = folded[0], folded[1:-1], folded[-1]
    for index, line in enumerate(lines[: len(lines) - len(wanted) + 1]):
        if index % 1_000 == 0 and time.monotonic() > deadline:
            return None
        here = fold(line)
        if len(wanted) == 1:
            if head in here:
                return index
            continue
        if not here.endswith(head):
            continue
        rest = [fold(each) for each in lines[index + 1 : index + len(wanted)]]
        if rest[:-1] == inner and rest[-1].startswith(tail):
            return index
    return None


def _without_blanks(line: str) -> str:
    return "".join(line.split())


def _look(text: str) -> str:
    """How the text looks: typographic signs as plain ones, nothing invisible."""
    composed = unicodedata.normalize("NFC", text.translate(_TYPOGRAPHY))
    if composed.isascii():
        return composed
    return "".join(c for c in composed if unicodedata.category(c) != "Cf")


def _blanks_differ(first: int, there: list[str], wanted: list[str]) -> str:
    for number, (mine, yours) in enumerate(zip(there, wanted, strict=True), first + 1):
        if mine == yours or (len(wanted) > 1 and not yours.strip() and not mine.strip()):
            continue
        if (one := _indent(mine)) != (other := _indent(yours)) and len(wanted) > 1:
            return (
                "Only blank space differs: "
                f"line {number} begins with {one} in the file, with {other} in old_string."
            )
        if mine.rstrip() == yours.rstrip():
            one, other = (_blanks(line[len(line.rstrip()) :]) for line in (mine, yours))
            return (
                "Only blank space differs: "
                f"line {number} ends with {one} in the file, with {other} in old_string."
            )
        return f"Only blank space differs, first in line {number}."
    return "Only blank space differs."


def _indent(line: str) -> str:
    return _blanks(line[: len(line) - len(line.lstrip())])


def _blanks(blanks: str) -> str:
    """ "2 tabs", "4 spaces", "nothing"."""
    names = {" ": "space", "\t": "tab", "\r": "carriage return"}
    runs = []
    for found in re.finditer(r"(.)\1*", blanks, re.DOTALL):
        name = names.get(found[1], f"U+{ord(found[1]):04X}")
        runs.append(f"{len(found[0])} {name}{'s' if len(found[0]) > 1 else ''}")
    return " and ".join(runs) or "nothing"


def _characters_differ(first: int, there: list[str], wanted: list[str]) -> str:
    for number, (mine, yours) in enumerate(zip(there, wanted, strict=True), first + 1):
        only_mine = [c for c in Counter(mine) - Counter(yours) if not c.isascii()]
        only_yours = [c for c in Counter(yours) - Counter(mine) if not c.isascii()]
        for where, odd in (("the file", only_mine), ("old_string", only_yours)):
            if odd:
                name = unicodedata.name(odd[0], "a character without a name")
                return (
                    f"It looks the same, but a character differs: in line {number} {where} has "
                    f"U+{ord(odd[0]):04X} ({name.lower()})."
                )
    return "It looks the same, but some characters differ."


def _case_differs(first: int, _there: list[str], _wanted: list[str]) -> str:
    return f"At line {first + 1} it stands with other upper and lower case or blank space."


def _closest(lines: list[str], wanted: str) -> Miss | None:
    """The passage that has most in common, as far as a short search tells."""
    wanted_lines = wanted.strip("\n").split("\n")
    deadline = time.monotonic() + _LONGEST_SEARCH
    starts = _by_equal_lines(lines, wanted_lines) or _by_words(lines, wanted_lines, deadline)
    best, best_ratio = None, 0.3
    for start in starts:
        there = lines[start : start + len(wanted_lines)]
        matcher = difflib.SequenceMatcher(
            None, "\n".join(there)[:5_000], "\n".join(wanted_lines)[:5_000]
        )
        # The quick one compares letters without their order: enough to choose, and never slow.
        if (ratio := matcher.quick_ratio()) > best_ratio:
            best, best_ratio = start, ratio
    if best is None:
        return None
    there = lines[best : best + len(wanted_lines)]
    last = best + len(there)
    where = f"line {last}" if len(there) == 1 else f"lines {best + 1}-{last}"
    return Miss(f"The closest passage is at {where}:", _small_diff(wanted_lines, there, best))


def _by_equal_lines(lines: list[str], wanted: list[str]) -> list[int]:
    """Where the passage would start, judged by lines that stand in the file as they are."""
    places: dict[str, list[int]] = {line.strip(): [] for line in wanted if _WORD.search(line)}
    if not places:
        return []
    for index, line in enumerate(lines):
        found = places.get(line.strip())
        if found is not None and len(found) < 50:
            found.append(index)
    votes = Counter(
        max(0, place - index)
        for index, line in enumerate(wanted)
        for place in places.get(line.strip(), ())
    )
    return [start for start, _ in votes.most_common(5)]


def _by_words(lines: list[str], wanted: list[str], deadline: float) -> list[int]:
    """Where the passage would start, judged by the words of its longest line."""
    index = max(range(len(wanted)), key=lambda i: len(wanted[i]))
    words = set(_WORD.findall(wanted[index][:5_000]))
    if not words:
        return []
    scored: list[tuple[float, int]] = []
    for place, line in enumerate(lines):
        if place % 1_000 == 0 and time.monotonic() > deadline:
            break
        here = set(_WORD.findall(line[:5_000]))
        if common := len(words & here):
            scored.append((common / len(words | here), place))
    scored.sort(key=lambda score: (-score[0], score[1]))
    return [max(0, place - index) for _, place in scored[:5]]


def _small_diff(wanted: list[str], there: list[str], first: int) -> str:
    """What was asked for (-) against what the file has (+)."""
    diff = list(difflib.unified_diff(wanted[:500], there[:500], n=1, lineterm=""))[2:]
    if not diff:
        return ""
    shown = ["--- old_string", f"+++ the file, from line {first + 1}"]
    for line in diff[:_MOST_SHOWN]:
        line = readable(line)
        shown.append(line if len(line) <= _WIDTH else f"{line[:_WIDTH]}…")
    if len(diff) > _MOST_SHOWN:
        shown.append(f"… {len(diff) - _MOST_SHOWN} more lines")
    return "\n".join(shown)
