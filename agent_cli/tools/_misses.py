"""Why a passage is not found in a file: the closest one, and precisely what differs."""

import difflib
import html
import itertools
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from agent_cli.lib.encodings import readable
from agent_cli.lib.text import plural
from agent_cli.tools._matching import LineNumbers

_SEARCH_TIMEOUT_S = 0.5
"""Seconds spent on finding what may have been meant."""
_MAX_SHOWN = 30
_WIDTH = 240
_MAX_PASSAGE_CHARS = 100_000
_COMPARED = 5_000
_FEW_LINES = 5_000
_MAX_WORDS = 50
_MAX_STARTS = 20
_WORD = re.compile(r"\w+")
_NUMBERS = re.compile(r"^ *\d+\t", re.MULTILINE)
_ESCAPE = re.compile(r"""\\([nrt"'\\])""")
_ESCAPED = {"n": "\n", "r": "", "t": "\t", '"': '"', "'": "'", "\\": "\\"}
_BLANKS = {" ": "space", "\t": "tab", "\r": "carriage return"}
_TYPOGRAPHY = str.maketrans(
    "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2010\u2011\u2012\u2013\u2014\u2212\xa0\u202f",
    "''''\"\"\"\"------  ",
)

Fold = Callable[[str], str]


@dataclass(frozen=True)
class PassageMiss:
    """What is known about a passage that is not there."""

    reason: str
    """A sentence or two: what differs and what to do."""
    passage: str = ""
    """The closest passage of the file against what was asked for, as a small diff."""


def explain(text: str, wanted: str) -> PassageMiss:
    """The most precise thing that can be said. Both texts have LF line breaks."""
    if len(wanted) > _MAX_PASSAGE_CHARS:
        return PassageMiss("It is very long; replace a shorter passage, or use several edits.")
    lines, wanted_lines = text.split("\n"), wanted.split("\n")
    likely = _likely_starts(text, wanted_lines)
    return (
        _find_damage(text, wanted)
        or _find_folded_match(text, lines, wanted_lines, likely)
        or _closest(lines, wanted_lines, likely)
        or PassageMiss("Nothing in the file is similar. Read the file again.")
    )


def _likely_starts(text: str, wanted: list[str]) -> list[int]:
    """Where the passage would start, judged by its rarest words that stand in the file."""
    places = {word: index for index, line in enumerate(wanted) for word in _WORD.findall(line)}
    longest = sorted(places, key=len, reverse=True)[:_MAX_WORDS]
    counted = sorted((text.count(word), word) for word in longest)
    rarest = [word for count, word in counted if count][:5]
    if not rarest:
        return []
    numbers = LineNumbers(text)
    votes: Counter[int] = Counter()
    for word in rarest:
        for found in itertools.islice(re.finditer(re.escape(word), text), 200):
            votes[max(0, numbers.at(found.start()) - 1 - places[word])] += 1
    return [start for start, _ in votes.most_common(_MAX_STARTS)]


_REPAIRS: tuple[tuple[Callable[[str], str], str], ...] = (
    (
        lambda text: _NUMBERS.sub("", text),
        "It includes the line numbers that Read adds; leave them out.",
    ),
    (
        lambda text: _ESCAPE.sub(lambda found: _ESCAPED[found[1]], text),
        (
            "It is escaped once too often: it has a backslash before a newline, tab or quote that "
            "the file contains as is. Send the text exactly as it is in the file."
        ),
    ),
    (html.unescape, "It is HTML-escaped (&lt; &amp; etc.); the file is not."),
    (str.strip, "It would match without its leading or trailing whitespace."),
)


def _find_damage(text: str, wanted: str) -> PassageMiss | None:
    """Text that was changed on its way here, in a way that can be undone to check."""
    for repair, reason in _REPAIRS:
        repaired = repair(wanted)
        if repaired and repaired != wanted and (at := text.find(repaired)) >= 0:
            line = LineNumbers(text).at(at)
            return PassageMiss(f"{reason} The match is at line {line}.")
    if "«secret" in wanted:
        return PassageMiss(
            "It contains «secret…», a placeholder for a value hidden from you. "
            "Choose a passage without it."
        )
    return None


def _find_folded_match(
    text: str, lines: list[str], wanted: list[str], likely: list[int]
) -> PassageMiss | None:
    """A passage that is the same but for blanks, look-alike characters or case."""
    if len(lines) <= _FEW_LINES:
        likely = in_any_case = list(range(len(lines)))
    else:
        in_any_case = _likely_starts(text.lower(), [line.lower() for line in wanted])
    kinds: tuple[tuple[Fold, list[int], Callable[[int, list[str], list[str]], str]], ...] = (
        (_without_blanks, likely, _blanks_differ),
        (_look, likely, _characters_differ),
        (lambda line: _look(_without_blanks(line)).casefold(), in_any_case, _case_differs),
    )
    for fold, starts, reason in kinds:
        first = _find_folded(lines, wanted, starts, fold)
        if first is not None:
            there = lines[first : first + len(wanted)]
            return PassageMiss(reason(first, there, wanted), _small_diff(wanted, there, first))
    return None


def _find_folded(lines: list[str], wanted: list[str], starts: list[int], fold: Fold) -> int | None:
    """The index of the first line of a passage that is equal after folding.

    The first and last line of what is wanted may be parts of lines.
    """
    folded = [fold(line) for line in wanted]
    if not any(folded):
        return None
    head, inner, tail = folded[0], folded[1:-1], folded[-1]
    for index in starts:
        here = fold(lines[index])
        if len(wanted) == 1:
            if head in here:
                return index
            continue
        if not here.endswith(head) or index + len(wanted) > len(lines):
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
                f"Only whitespace differs: line {number} starts with {one} in the "
                f"file, but with {other} in old_string."
            )
        if mine.rstrip() == yours.rstrip():
            one, other = (_blanks(line[len(line.rstrip()) :]) for line in (mine, yours))
            return (
                f"Only whitespace differs: line {number} ends with {one} in the file, "
                f"but with {other} in old_string."
            )
        return f"Only whitespace differs, first in line {number}."
    return "Only whitespace differs."


def _indent(line: str) -> str:
    return _blanks(line[: len(line) - len(line.lstrip())])


def _blanks(blanks: str) -> str:
    """ "2 tabs", "4 spaces", "nothing"."""
    runs = [found[0] for found in re.finditer(r"(.)\1*", blanks, re.DOTALL)]
    named = (plural(len(run), _BLANKS.get(run[0], f"U+{ord(run[0]):04X}")) for run in runs)
    return " and ".join(named) or "nothing"


def _characters_differ(first: int, there: list[str], wanted: list[str]) -> str:
    for number, (mine, yours) in enumerate(zip(there, wanted, strict=True), first + 1):
        only_mine = [c for c in Counter(mine) - Counter(yours) if not c.isascii()]
        only_yours = [c for c in Counter(yours) - Counter(mine) if not c.isascii()]
        for where, odd in (("the file", only_mine), ("old_string", only_yours)):
            if odd:
                name = unicodedata.name(odd[0], "").lower()
                return (
                    f"It looks the same, but a character differs: in line {number}, {where} has "
                    f"U+{ord(odd[0]):04X} ({name or 'a character without a name'})."
                )
    return "It looks the same, but some characters differ."


def _case_differs(first: int, _there: list[str], _wanted: list[str]) -> str:
    return f"Line {first + 1} matches except for letter case or whitespace."


def _closest(lines: list[str], wanted: list[str], likely: list[int]) -> PassageMiss | None:
    """The passage that has most in common, as far as a short search tells."""
    starts = likely or (range(len(lines)) if len(lines) <= _FEW_LINES else [])
    sent = "\n".join(wanted)[:_COMPARED]
    deadline = time.monotonic() + _SEARCH_TIMEOUT_S
    best, best_ratio = None, 0.4
    for start in starts:
        there = "\n".join(lines[start : start + len(wanted)])[:_COMPARED]
        # The quick one compares letters without their order: enough to choose, and never slow.
        ratio = difflib.SequenceMatcher(None, there, sent).quick_ratio()
        if ratio > best_ratio:
            best, best_ratio = start, ratio
        if time.monotonic() > deadline:
            break
    if best is None:
        return None
    passage = lines[best : best + len(wanted)]
    last = best + len(passage)
    where = f"line {last}" if len(passage) == 1 else f"lines {best + 1}-{last}"
    return PassageMiss(f"The closest match is at {where}:", _small_diff(wanted, passage, best))


def _small_diff(wanted: list[str], there: list[str], first: int) -> str:
    """What was asked for (-) against what the file has (+)."""
    diff = list(difflib.unified_diff(wanted[:500], there[:500], n=1, lineterm=""))[2:]
    if not diff:
        return ""
    shown = ["--- old_string", f"+++ the file, from line {first + 1}"]
    for line in diff[:_MAX_SHOWN]:
        line = readable(line)
        shown.append(line if len(line) <= _WIDTH else f"{line[:_WIDTH]}…")
    if len(diff) > _MAX_SHOWN:
        shown.append(f"… {len(diff) - _MAX_SHOWN} more lines")
    return "\n".join(shown)
