"""Which git commands only read."""

import re

from agent_cli.safety.reasons import because
from agent_cli.safety.sensitive import is_secret
from agent_cli.safety.shell import table
from agent_cli.safety.shell.checks import Context
from agent_cli.safety.shell.globs import may_match_secret
from agent_cli.safety.shell.options import Refused, read
from agent_cli.safety.shell.shell_facts import absolute, lexical
from agent_cli.safety.shell.words import Word

HARMLESS_GLOBALS = frozenset({"--no-pager", "--no-optional-locks"})
# Placeholders that make git run gpg.
SIGNATURE = re.compile(r"%[-+ ]?G|%\(\*?signature")
SORT_BY_SIGNATURE = re.compile(r"[-*]*signature", re.IGNORECASE)


def check(_spec: table.Spec, words: list[Word], context: Context) -> None:
    """Raise Refused unless this git command line only reads the workspace's repository."""
    while words and words[0].text in HARMLESS_GLOBALS:
        words = words[1:]
    if [word.text for word in words] in (["--version"], ["version"]):
        return
    if not words:
        raise Refused(because("missing_argument"))
    if words[0].text.startswith("-"):
        raise Refused(because("git_option", option=words[0].text.partition("=")[0]))
    _plain(context)
    name, spec, rest = _find(words)
    parsed = read(spec, rest)
    for option, value in parsed.options:
        if value is not None:
            _option(option, value.text, context)
    given = parsed.operands
    if spec.operands == "none" and given:
        raise Refused(because("not_known_safe", what=f"git {name} {given[0].text}"))
    if spec.operands == "text":
        if spec.listing and given and not parsed.has(spec.listing):
            raise Refused(because("git_creates", command=name, word=given[0].text))
        return
    if spec.operands == "pattern-revs" and not parsed.has(spec.patterns):
        if given and given[0].pattern is not None:
            raise Refused(because("depends_on_files", word=given[0].text))
        given = given[1:]
    if name == "reflog" and given and rest[0].text != "show":
        raise Refused(because("not_known_safe", what=f"git reflog {given[0].text}"))
    for word in given:
        _revision_or_path(word, context)


def _option(option: str, value: str, context: Context) -> None:
    if SIGNATURE.search(value) or (option == "--sort" and SORT_BY_SIGNATURE.match(value)):
        raise Refused(because("checks_signatures", option=option))
    if option == "--diff-merges" and value.startswith("r"):
        raise Refused(because("not_known_safe", what=f"git {option} {value}"))
    if option == "-L":
        _no_secret(value, context)


def _plain(context: Context) -> None:
    place = context.place
    if not place.trusted:
        raise Refused(because("git_untrusted"))
    if not place.git_is_plain:
        raise Refused(because("git_helpers"))
    for cwd in context.where:
        if place.probe_git is not None and not place.probe_git(cwd):
            raise Refused(because("git_helpers_in", cwd=cwd))


def _find(words: list[Word]) -> tuple[str, table.Spec, list[Word]]:
    known = table.git_commands()
    if words[0].pattern is not None:
        raise Refused(because("depends_on_files", word=words[0].text))
    name = words[0].text
    if len(words) > 1 and f"{name} {words[1].text}" in known:
        name = f"{name} {words[1].text}"
        return name, known[name], words[2:]
    if name not in known:
        raise Refused(because("can_change_files", name=f"git {name}"))
    return name, known[name], words[1:]


def _revision_or_path(word: Word, context: Context) -> None:
    """Git reads a path outside the repository as a plain file, so every operand is looked at."""
    if word.text.startswith(":(") and not word.text.startswith(":(exclude)"):
        raise Refused(because("not_known_safe", what=word.text))
    context.look(word, context.where, content=True)
    _, colon, path = word.text.partition(":")
    if not colon or word.text.startswith((":!", ":^", ":(exclude)")):
        path = word.text
    _no_secret(word.text, context)
    if any(char in path for char in "*?[") and not word.text.startswith((":!", ":^", ":(exclude)")):
        match = next(filter(None, map(may_match_secret, path.split("/"))), None)
        if match:
            raise Refused(because("may_match_secret", path=path, secret=match))


def _no_secret(text: str, context: Context) -> None:
    """What follows any of the colons may be the path (`:0:file`, `1,5:file`, `rev:file`)."""
    at = -1
    while True:
        path = text[at + 1 :]
        for cwd in context.where:
            secret = is_secret(lexical(absolute(path or ".", cwd)), context.place.home)
            if secret:
                context.look(Word(path, path), context.where, content=True)
                raise Refused(because("secret_path", path=path, why=secret))
        at = text.find(":", at + 1)
        if at < 0:
            return
