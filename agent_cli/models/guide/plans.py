"""One plan for each kind of wish."""

import re
import shlex
from typing import assert_never

from agent_cli.models.guide.phrases import say
from agent_cli.models.guide.plan import Act, Answer, Call, Outcome, Plan
from agent_cli.models.guide.results import (
    fenced,
    file_page,
    found_files,
    git_facts,
    listing,
    matches,
    why,
)
from agent_cli.models.guide.wishes import (
    EVERYWHERE,
    Create,
    Delete,
    Diff,
    Find,
    Language,
    Listing,
    Plain,
    Run,
    Search,
    Show,
    Swap,
    Wish,
)

PAGE = 200
"""Lines of a file that are shown at once."""


def plan_for(wish: Wish, language: Language) -> Plan:
    """The plan for a wish; a tour is planned elsewhere."""
    match wish:
        case Plain():
            return _plain(wish, language)
        case Show():
            return _show(wish, language)
        case Listing():
            return _list(wish, language)
        case Find():
            return _find(wish, language)
        case Search():
            return _search(wish, language)
        case Diff():
            return _diff(wish, language)
        case Run():
            return _run(wish.command, language)
        case Swap():
            return _swap(wish, language)
        case Create():
            return _create(wish, language)
        case Delete():
            return _run(f"rm -- {shlex.quote(wish.path)}", language)
        case _:
            assert_never(wish)


def _plain(wish: Plain, language: Language) -> Plan:
    if wish.kind == "changes":
        return (yield from _changes(language))
    key = "no_tour" if wish.kind in ("next", "stop", "tour") else wish.kind
    return Answer(say(language, key), suggestion="/undo" if wish.kind == "undo" else "")


def _show(wish: Show, language: Language) -> Plan:
    limit = PAGE
    arguments: dict[str, object] = {"file_path": wish.path}
    if wish.first is not None and wish.last is not None:
        limit = max(1, wish.last - wish.first + 1)
        arguments["offset"] = max(1, wish.first)
    (read,) = yield Act([Call("Read", {**arguments, "limit": limit})])
    if read.is_error and " is a directory" in read.text:
        return (yield from _list(Listing(wish.path), language))
    if read.is_error:
        return _failed(read, language)
    return Answer(file_page(read.text, wish.path, limit, language))


def _list(wish: Listing, language: Language) -> Plan:
    arguments = {"path": wish.path, "recursive": wish.recursive}
    (listed,) = yield Act([Call("ListFiles", arguments)])
    if listed.is_error:
        return _failed(listed, language)
    return Answer(listing(listed.text, wish.path, language))


def _find(wish: Find, language: Language) -> Plan:
    (found,) = yield Act([Call("Glob", {"pattern": wish.pattern})])
    if found.is_error:
        return _failed(found, language)
    return Answer(found_files(found.text, wish.pattern, language))


def _search(wish: Search, language: Language) -> Plan:
    pattern = wish.pattern if wish.is_regex else _literal(wish.pattern)
    (found,) = yield Act([Call("Grep", {"pattern": pattern, "path": wish.path})])
    if found.is_error:
        return _failed(found, language)
    return Answer(matches(found.text, wish.pattern, wish.path, language))


def _literal(text: str) -> str:
    """A regular expression that matches this text and nothing else."""
    return re.sub(r"[\\.+*?()|\[\]{}^$]", r"\\\g<0>", text)


def _changes(language: Language) -> Plan:
    (known,) = yield Act([Call("GitInfo", {})])
    if known.is_error:
        return _failed(known, language)
    return Answer(git_facts(known.text, language))


def _diff(wish: Diff, language: Language) -> Plan:
    path = f" -- {shlex.quote(wish.path)}" if wish.path else ""
    (shown,) = yield Act([Call("Bash", {"command": f"git diff HEAD{path}"})])
    if shown.is_error:
        return _failed(shown, language)
    if not shown.text.strip() or shown.text == "(no output)":
        return Answer(say(language, "no_diff"))
    return Answer(fenced(shown.text, "diff"))


def _run(command: str, language: Language) -> Plan:
    (ran,) = yield Act([Call("Bash", {"command": command})])
    ended = re.search(r"^\[exit (-?\d+) after ", ran.text, re.MULTILINE)
    if ran.is_error and ended is None:
        return _failed(ran, language)
    head = say(language, "ran", command=command)
    if ended is not None and ended[1] != "0":
        head = say(language, "ran_badly", command=command, code=ended[1])
    output = re.sub(r"^\[exit -?\d+ after [^\]]*\]$", "", ran.text, flags=re.MULTILINE).strip("\n")
    if not output.strip() or output == "(no output)":
        return Answer(f"{head} {say(language, 'no_output')}")
    return Answer(f"{head}\n\n{fenced(output)}")


def _swap(wish: Swap, language: Language) -> Plan:
    if not wish.path:
        return Answer(say(language, "which_file", old=wish.old, new=wish.new))
    if wish.path == EVERYWHERE or re.search(r"[*?\[{]", wish.path):
        arguments: dict[str, object] = {
            "pattern": _literal(wish.old),
            "replacement": wish.new.replace("$", "$$"),
            "preview": False,
        }
        if wish.path != EVERYWHERE:
            arguments["glob"] = wish.path
        (replaced,) = yield Act([Call("Replace", arguments)])
        return _changed(replaced, wish.path, language)
    (read,) = yield Act([Call("Read", {"file_path": wish.path})], say(language, "look_first"))
    if read.is_error:
        return _failed(read, language)
    edit = {
        "file_path": wish.path,
        "old_string": wish.old,
        "new_string": wish.new,
        "replace_all": True,
    }
    (edited,) = yield Act([Call("Edit", edit)])
    return _changed(edited, wish.path, language)


def _create(wish: Create, language: Language) -> Plan:
    content = (
        wish.content if wish.content.endswith("\n") or not wish.content else f"{wish.content}\n"
    )
    (written,) = yield Act([Call("Write", {"file_path": wish.path, "content": content})])
    return _changed(written, wish.path, language)


def _changed(outcome: Outcome, path: str, language: Language) -> Answer:
    if outcome.is_error:
        return _failed(outcome, language)
    what = outcome.text.partition("\n\n")[0].strip().rstrip(".")
    if language != "en":  # which is what tools speak to models
        what = say(language, "everywhere") if path == EVERYWHERE else f"`{path}`"
    return Answer(say(language, "done", what=what))


def _failed(outcome: Outcome, language: Language) -> Answer:
    return Answer(why(outcome.text, language))
