"""What a check of arguments is given, and the judgements that many of them share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from agent_cli.safety.reasons import Reason, because
from agent_cli.safety.shell.globs import may_select_secret
from agent_cli.safety.shell.lenient_words import braces
from agent_cli.safety.shell.options import Parsed, Refused
from agent_cli.safety.shell.shell_facts import ShellContext
from agent_cli.safety.shell.table import Spec
from agent_cli.safety.shell.words import UNKNOWN, Word

Where = frozenset[str]

KNOWS_UNKNOWN = frozenset({"echo", "printf", "test", "tail", "checksum"})
"""Checks that look at unknown words themselves."""


class ReadObserver(Protocol):
    """Notes that a path is read; with `tree`, all that is below it too."""

    def __call__(self, word: Word, where: Where, *, content: bool, tree: bool = False) -> None: ...


@dataclass(frozen=True)
class Context:
    """What a check may know and whom it tells about files."""

    place: ShellContext
    where: Where
    look: ReadObserver
    doubt: Callable[[Reason], None]
    """Notes why the command is harmless in a sandbox only."""
    run: Callable[[list[Word]], None]
    """Proves another command that this one runs."""


Check = Callable[[Spec, list[Word], Context], Where | None]
"""Raises Refused; returns where the shell stands afterwards if that changes."""


def operands(spec: Spec, parsed: Parsed, context: Context) -> None:
    """Judge option values and operands by the table entry."""
    for name, value in parsed.options:
        kind = spec.options.get(name)
        if value is None or kind not in {"=path", "=glob"}:
            continue
        if value.is_unknown:
            context.doubt(because("reads_unknown"))
        elif kind == "=path":
            context.look(value, context.where, content=True)
        else:
            _no_secrets(name, value.text, context)
    words = parsed.operands
    if spec.operands == "none":
        if words:
            raise Refused(because("not_known_safe", what=words[0].text))
    elif spec.operands == "text":
        for word in words:
            if word.pattern is not None:
                context.look(word, context.where, content=False)
    else:
        if spec.operands == "pattern" and not parsed.has(spec.patterns):
            if words and words[0].pattern is not None:
                raise Refused(because("depends_on_files", word=words[0].text))
            words = words[1:]
        _look_at_files(spec, parsed, words, context)


def _look_at_files(spec: Spec, parsed: Parsed, words: list[Word], context: Context) -> None:
    content = not (spec.metadata or parsed.has(spec.names_only))
    tree = spec.recurses == "always" or parsed.has(frozenset(spec.recurses.split()))
    if tree and not words:
        words = [Word(".", ".")]
    for word in words:
        if word.text != "-":
            context.look(word, context.where, content=content, tree=tree and content)


def _no_secrets(option: str, glob: str, context: Context) -> None:
    """A search that is told which names to look into may not be told secret ones."""
    if glob.startswith("!"):
        return
    secret = next(filter(None, map(may_select_secret, braces(glob))), None)
    if secret:
        context.look(Word(secret, secret), context.where, content=True)
        raise Refused(because("searches_secret", option=option, glob=glob, secret=secret))


def require_harmless(spec: Spec, words: list[Word], context: Context) -> None:
    """Refuse words that are only known at run time, unless they can do no harm whatever they are.

    A word that could be an option may stand only where no option does harm.
    """
    end = next((at for at, word in enumerate(words) if word.text == "--"), len(words))
    for at, word in enumerate(words):
        if not word.is_unknown:
            continue
        may_be_option = word.splits or (at < end and word.text[0] in {UNKNOWN, "-"})
        if spec.check in KNOWS_UNKNOWN:
            continue
        if spec.check or (may_be_option and not spec.glob):
            raise Refused(because("runtime_value"))
        if may_be_option and (spec.operands != "text" or word.splits):
            context.doubt(because("reads_unknown"))


def exact(words: list[Word]) -> list[str]:
    """The texts of words, none of which depends on file names."""
    for word in words:
        if word.is_unknown:
            raise Refused(because("runtime_value"))
        if word.pattern is not None:
            raise Refused(because("depends_on_files", word=word.text))
    return [word.text for word in words]


def asks_version(words: list[Word]) -> bool:
    """Whether a version is all that is asked for."""
    return [word.text for word in words] == ["--version"]
