"""Read a command's arguments by its table entry, refusing every option the entry does not list."""

import re
from dataclasses import dataclass, field

from agent_cli.safety.reasons import ReasonedError, because
from agent_cli.safety.shell.table import Spec
from agent_cli.safety.shell.words import UNKNOWN, Word


class Refused(ReasonedError):
    """The arguments are not known to be harmless."""


@dataclass
class Parsed:
    """The arguments, sorted."""

    options: list[tuple[str, Word | None]] = field(default_factory=list)
    operands: list[Word] = field(default_factory=list)

    def has(self, names: frozenset[str]) -> bool:
        return any(name in names for name, _ in self.options)


def read(spec: Spec, words: list[Word]) -> Parsed:
    """Sort the arguments into options and operands."""
    parsed = Parsed()
    rest = iter(words)
    for word in rest:
        text = word.text
        if text == "--":
            parsed.operands.extend(rest)
            break
        if word.pattern is not None and word.may_be_option and not spec.glob:
            raise Refused(because("file_as_option", word=text))
        if text[:1] != "-" or text == "-":
            parsed.operands.append(word)
            continue
        wants = _option(spec, word, parsed)
        if wants is not None:
            value = next(rest, None)
            if value is None and spec.options[wants] != "?next":
                raise Refused(because("missing_value", option=word.text))
            if value is not None and (value.pattern is not None or value.splits):
                raise Refused(because("depends_on_files", word=value.text))
            if value is not None and _is_two_faced(value.text) and wants not in spec.patterns:
                raise Refused(because("hides_option", word=value.text))
            parsed.options.append((wants, value))
    _count(spec, parsed)
    return parsed


def _is_two_faced(text: str) -> bool:
    """Programs differ on whether a word with a dash can be the value of the option before it."""
    return text.startswith("-") and not re.fullmatch(r"-[0-9.]*", text)


def _count(spec: Spec, parsed: Parsed) -> None:
    count = len(parsed.operands)
    if spec.most is not None:
        if count > spec.most:
            raise Refused(because("too_many_arguments"))
        if any(word.pattern is not None or word.splits for word in parsed.operands):
            raise Refused(because("argument_count"))
    if count < spec.least:
        raise Refused(because("missing_argument"))


def _option(spec: Spec, word: Word, parsed: Parsed) -> str | None:
    """Note one option word; the name of the option whose value is the next word, if any."""
    text = word.text
    if spec.digits and re.fullmatch(r"-[0-9]+", text):
        parsed.options.append((text, None))
        return None
    if text.startswith("--"):
        return _long(spec, word, parsed)
    if word.pattern is not None:
        raise Refused(because("depends_on_files", word=text))
    for index in range(1, len(text)):
        name = "-" + text[index]
        kind = spec.options.get(name)
        if kind is None:
            raise Refused(because("not_known_safe", what=name.replace(UNKNOWN, "…")))
        attached = text[index + 1 :]
        if kind == "":
            parsed.options.append((name, None))
            continue
        if not attached and kind.startswith("="):
            return name
        if spec.detached:
            raise Refused(because("hides_option", word=text))
        parsed.options.append((name, Word(attached, word.raw)))
        return None
    return None


def _long(spec: Spec, word: Word, parsed: Parsed) -> str | None:
    name, equals, attached = word.text.partition("=")
    kind = spec.options.get(name)
    if kind is None:
        raise Refused(because("not_known_safe", what=name.replace(UNKNOWN, "…")))
    if word.pattern is not None and (
        not equals or kind == "=path" or any(char in name for char in "*?[")
    ):
        raise Refused(because("depends_on_files", word=word.text))
    if equals:
        if kind == "":
            raise Refused(because("not_known_safe", what=word.text))
        parsed.options.append((name, Word(attached, word.raw)))
        return None
    # git takes whatever word comes next for some optional values, if there is one.
    if kind.startswith("=") or kind == "?next":
        return name
    parsed.options.append((name, None))
    return None
