"""Read a command's arguments by its table entry, refusing every option the entry does not list."""

import re
from dataclasses import dataclass, field

from agent_cli.lib.language import tr
from agent_cli.safety.shell.table import Spec
from agent_cli.safety.shell.words import Word


class Refused(Exception):
    """The arguments are not known to be harmless; the message says why."""


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
            raise Refused(
                tr("a file that matches {pattern} could be taken for an option", pattern=text)
            )
        if text[:1] != "-" or text == "-":
            parsed.operands.append(word)
            continue
        wants = _option(spec, word, parsed)
        if wants is not None:
            value = next(rest, None)
            if value is None and spec.options[wants] != "?next":
                raise Refused(tr("{option} lacks its value", option=word.text))
            if value is not None and value.pattern is not None:
                raise Refused(tr("the value of {option} depends on file names", option=word.text))
            if value is not None and _is_two_faced(value.text) and wants not in spec.patterns:
                raise Refused(
                    tr(
                        "{value} after {option} may be an option of its own",
                        value=value.text,
                        option=word.text,
                    )
                )
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
            raise Refused(tr("one argument too many: it could be written to"))
        if any(word.pattern is not None for word in parsed.operands):
            raise Refused(tr("the number of arguments depends on file names"))
    if count < spec.least:
        raise Refused(tr("an argument is missing: it would wait for input"))


def _option(spec: Spec, word: Word, parsed: Parsed) -> str | None:
    """Note one option word; the name of the option whose value is the next word, if any."""
    text = word.text
    if spec.digits and re.fullmatch(r"-[0-9]+", text):
        parsed.options.append((text, None))
        return None
    if text.startswith("--"):
        return _long(spec, word, parsed)
    if word.pattern is not None:
        raise Refused(tr("the option {option} depends on file names", option=text))
    for index in range(1, len(text)):
        name = "-" + text[index]
        kind = spec.options.get(name)
        if kind is None:
            shown = name if len(text) == 2 else tr("{option} in {word}", option=name, word=text)
            raise Refused(tr("option {option} is not known to be harmless", option=shown))
        attached = text[index + 1 :]
        if kind == "":
            parsed.options.append((name, None))
            continue
        if not attached and kind.startswith("="):
            return name
        if spec.detached:
            raise Refused(tr("{word} may hide another option", word=text))
        parsed.options.append((name, Word(attached, word.raw)))
        return None
    return None


def _long(spec: Spec, word: Word, parsed: Parsed) -> str | None:
    name, equals, attached = word.text.partition("=")
    kind = spec.options.get(name)
    if kind is None:
        raise Refused(tr("option {option} is not known to be harmless", option=name))
    if word.pattern is not None and (
        not equals or kind == "=path" or any(char in name for char in "*?[")
    ):
        raise Refused(tr("the option {option} depends on file names", option=word.text))
    if equals:
        if kind == "":
            raise Refused(tr("option {option} takes no value", option=name))
        parsed.options.append((name, Word(attached, word.raw)))
        return None
    # git takes whatever word comes next for some optional values, if there is one.
    if kind.startswith("=") or kind == "?next":
        return name
    parsed.options.append((name, None))
    return None
