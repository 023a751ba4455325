"""Which git commands only read."""

import re
from dataclasses import replace
from pathlib import PurePosixPath

from agent_cli.safety.name_sets import names
from agent_cli.safety.reasons import because
from agent_cli.safety.sensitive import is_secret
from agent_cli.safety.shell import table
from agent_cli.safety.shell.checks import Context, exact
from agent_cli.safety.shell.globs import may_match_secret
from agent_cli.safety.shell.options import Parsed, Refused, read
from agent_cli.safety.shell.shell_facts import absolute, inside, lexical
from agent_cli.safety.shell.words import Word

HARMLESS_GLOBALS = frozenset({"--no-pager", "--no-optional-locks"})
SHOWS_CONTENT = frozenset({"show", "diff", "cat-file", "stash show"})
MAY_SHOW_CONTENT = names("log whatchanged diff-tree diff-index diff-files reflog") | {"stash list"}
PATCH = names(
    "-p -u -U -W -c --cc --patch --unified --patch-with-stat --function-context --word-diff "
    "--word-diff-regex --color-words --binary --check --full-diff -B -m"
)
NO_CONTENT = names(
    "--raw --stat --numstat --shortstat --compact-summary --summary --name-only --name-status "
    "--no-patch -s --dirstat --quiet -t -e"
)
NAMES_ONLY_GREP = names(
    "-l -L -c -q --files-with-matches --name-only --files-without-match --count --quiet"
)
SETTING = re.compile(r"[A-Za-z][A-Za-z0-9-]*\.([A-Za-z0-9/_.-]+\.)?[A-Za-z][A-Za-z0-9-]*")
NOT_SHOWN = re.compile(
    r"^(url|http|credential|sendemail|imap|github|gitlab|hub)\b|token|pass|secret|key$"
)
# Placeholders that make git run gpg.
SIGNATURE = re.compile(r"%[-+ ]?G|%\(\*?signature")
SORT_BY_SIGNATURE = re.compile(r"[-*]*signature", re.IGNORECASE)


def check(_spec: table.Spec, words: list[Word], context: Context) -> None:
    """Raise Refused unless this git command line only reads the workspace's repository."""
    words, context = _globals(words, context)
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
    if name == "config":
        _setting(parsed)
        return
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
    if _shows_content(name, parsed):
        _look_at_shown([word.text for word in words], context)


def _globals(words: list[Word], context: Context) -> tuple[list[Word], Context]:
    """The words after the options of git itself, and where -C lets it run."""
    while words and words[0].text in {*HARMLESS_GLOBALS, "-C"}:
        if words[0].text == "-C":
            (directory,) = exact(words[1:2]) or [""]
            moved = set()
            for cwd in context.where:
                path = absolute(directory, cwd)
                real = context.place.resolve(path)
                if not directory or not inside(real, context.place.roots):
                    raise Refused(because("outside_workspace", path=directory))
                if real != lexical(path):
                    raise Refused(because("link_on_path", path=directory))
                moved.add(real)
            context = replace(context, where=frozenset(moved))
            words = words[1:]
        words = words[1:]
    return words, context


def _setting(parsed: Parsed) -> None:
    """One setting may be read by its name, but for those that hold addresses and tokens."""
    wanted = exact(parsed.operands)
    is_read = len(wanted) == 1 and SETTING.fullmatch(wanted[0])
    if not is_read or NOT_SHOWN.search(wanted[0].lower()):
        raise Refused(because("git_config"))


def _shows_content(name: str, parsed: Parsed) -> bool:
    """Whether it prints lines of files, not just their names."""
    given = {option for option, _ in parsed.options}
    if "-L" in given:
        return False  # it names its file
    if name == "grep":
        return not given & NAMES_ONLY_GREP
    if name == "status":
        return bool(given & {"-v", "--verbose"})
    if name in SHOWS_CONTENT and not given & NO_CONTENT:
        return True
    return name in SHOWS_CONTENT | MAY_SHOW_CONTENT and bool(given & PATCH)


def _look_at_shown(argv: list[str], context: Context) -> None:
    """Look at each file whose content git would show, as it is named in the history."""
    if context.place.git_shows is None:
        return
    named = [word for word in argv if ":" not in word or word.startswith((":", "-"))]
    if argv[0] in {"show", "cat-file"} and len(named) < len(argv):
        operands = [word for word in named[1:] if not word.startswith("-")]
        if not operands:
            return  # files of a revision, all of them named
    for cwd in context.where:
        shown = context.place.git_shows(cwd, tuple(named))
        if shown is None:
            raise Refused(because("git_shows_unknown"))
        for path in shown:
            context.look(Word(path, path), frozenset({cwd}), content=True)


def _option(option: str, value: str, context: Context) -> None:
    if SIGNATURE.search(value) or (option == "--sort" and SORT_BY_SIGNATURE.match(value)):
        raise Refused(because("checks_signatures", option=option))
    if option == "--diff-merges" and value.startswith("r"):
        raise Refused(because("not_known_safe", what=f"git {option} {value}"))
    if option == "-L":
        _no_secret(value, context)
        _, colon, path = value.rpartition(":")
        if colon and path:
            context.look(Word(path, path), context.where, content=True)


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
    if colon and path and word.pattern is None:
        # It counts from the top of the repository, which is here or above.
        for above in _above(context):
            context.look(Word(path, path), frozenset({above}), content=True)
    if not colon or word.text.startswith((":!", ":^", ":(exclude)")):
        path = word.text
    _no_secret(word.text, context)
    if any(char in path for char in "*?[") and not word.text.startswith((":!", ":^", ":(exclude)")):
        match = next(filter(None, map(may_match_secret, path.split("/"))), None)
        if match:
            raise Refused(because("may_match_secret", path=path, secret=match))


def _above(context: Context) -> set[str]:
    """Where git stands, and the directories above it in the workspace."""
    return {
        str(above)
        for cwd in context.where
        for above in (PurePosixPath(cwd), *PurePosixPath(cwd).parents)
        if inside(str(above), context.place.roots)
    }


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
