"""Tool results in the guide's words: counted, named and shortened."""

import re

from agent_cli.lib.language import told
from agent_cli.lib.text import plural
from agent_cli.models.guide.phrases import say
from agent_cli.models.guide.wishes import Language

MOST = 40
"""Files or matches that are shown."""

_NUMBERED = re.compile(r" *(\d+)\t(.*)")
_HIT = re.compile(r"(?:(?P<path>.+?):)?\d+: ")


def counted(number: int, language: Language, one: str, zh: str) -> str:
    """ "2 files" or "2 个文件"."""
    many = one.replace("match", "matches") if one.endswith("match") else None
    return plural(number, one, many) if language == "en" else f"{number:,} {zh}"


def fenced(text: str, language: str = "") -> str:
    """A text as it is, in a fence that it cannot break."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def file_page(text: str, path: str, limit: int, language: Language) -> str:
    """A page of a file, and how to go on."""
    lines = [match for line in text.split("\n") if (match := _NUMBERED.fullmatch(line))]
    if not lines:
        empty = "[The file is empty.]" in text
        return say(language, "empty_file", path=path) if empty else fenced(text)
    lines = lines[:limit]
    first, last = int(lines[0][1]), int(lines[-1][1])
    shown = counted(len(lines), language, "line", "行")
    if first > 1:
        shown = f"lines {first}-{last}" if language == "en" else f"第 {first}-{last} 行"
    parts = [say(language, "file", path=path, lines=shown), fenced("\n".join(m[2] for m in lines))]
    notes = re.findall(r"^\[(.+)\]$", text.rpartition(lines[-1][0])[2], re.MULTILINE)
    if any("continue with offset" in note for note in notes):
        parts.append(say(language, "more_lines", path=path, first=last + 1, last=last + limit))
    parts += [f"({note})" for note in notes if not note.startswith("lines ")]
    return "\n\n".join(parts)


def listing(text: str, path: str, language: Language) -> str:
    """A directory's entries under their number."""
    entries, _, totals = text.rstrip().rpartition("\n\n")
    if numbers := re.fullmatch(
        r"(?:at least )?([\d,]+) files?, ([\d,]+) director(?:y|ies)", totals
    ):
        if language == "zh":
            totals = f"{numbers[1]} 个文件、{numbers[2]} 个目录"
    else:
        entries, totals = text, ""
    head = say(language, "listing", path=path, totals=totals) if totals else f"`{path}`:"
    return f"{head}\n\n{fenced(entries)}" if entries.strip() else head.rstrip(":：")


def found_files(text: str, pattern: str, language: Language) -> str:
    """Names, newest first, under their number."""
    if text.startswith("No files match"):
        return say(language, "found_none", pattern=pattern)
    notes = [line for line in text.splitlines() if line.startswith("[")]
    files = [line for line in text.splitlines() if line.strip() and not line.startswith("[")]
    number = counted(len(files), language, "file", "个文件")
    parts = [
        say(language, "found", count=number, pattern=pattern),
        fenced("\n".join(files[:MOST])),
    ]
    if len(files) > MOST:
        parts.append(say(language, "more", count=f"{len(files) - MOST:,}"))
    return "\n\n".join([*parts, *(f"({note.strip('[]')})" for note in notes)])


def matches(text: str, wanted: str, path: str, language: Language) -> str:
    """Matches under their number."""
    where = say(language, "in_place", path=path) if path != "." else ""
    if text.startswith("No matches"):
        return say(language, "no_matches", text=wanted, where=where)
    lines = text.splitlines()
    notes = [line for line in lines if line.startswith("[")]
    body = [line for line in lines if not line.startswith("[")]
    hits = [match for line in body if (match := _HIT.match(line))]
    headings = [line for line in body if line.strip() and not _HIT.match(line)]
    files = {match["path"] for match in hits if match["path"]} | set(headings)
    number = len(hits)
    head = say(
        language,
        "matches",
        text=wanted,
        matches=counted(number, language, "match", "处匹配"),
        files=counted(max(1, len(files)), language, "file", "个文件"),
    )
    shown = "\n".join(body[: MOST * 2]).strip("\n")
    parts = [head, fenced(shown)]
    if len(body) > MOST * 2:
        left = sum(1 for line in body[MOST * 2 :] if _HIT.match(line))
        parts.append(say(language, "more", count=f"{left:,}"))
    return "\n\n".join([*parts, *(f"({note.strip('[]')})" for note in notes)])


def git_facts(text: str, language: Language) -> str:
    """What git says, or that there is nothing to say."""
    if "repository:" not in text:
        return say(language, "no_repository")
    changed = re.search(
        r"^(?:modified|added|deleted|untracked|renamed|conflicted) \(", text, re.MULTILINE
    )
    facts = fenced(text if language == "en" else told(text))
    return f"{say(language, 'changes' if changed else 'clean')}\n\n{facts}"


def why(text: str, language: Language) -> str:
    """Why a call gave nothing: the person said no, a rule did, or it failed."""
    is_refusal = re.search(r"did not permit|is not permitted|needs the person's permission", text)
    return say(language, "refused" if is_refusal else "failed", why=reason(text, language))


def reason(text: str, language: Language) -> str:
    """What a call gave instead of a result, as the person was told."""
    first, _, more = text.strip().partition("\n")
    if language != "en":  # which is what models are told
        first = told(first)
    return "\n".join(filter(None, (first, more)))
