"""The guided tour: five steps in a scratch folder that goes with the session."""

import shlex
from collections.abc import Generator, Sequence
from pathlib import Path

from agent_cli.models.guide.phrases import say
from agent_cli.models.guide.plan import Act, Answer, Call, Outcome, Plan, Wait
from agent_cli.models.guide.results import file_page, matches, reason
from agent_cli.models.guide.wishes import Language

FILES = {
    "greet.py": (
        '"""Greets whoever runs it."""\n\n'
        "# TODO: the greeting is misspelt\n"
        "GREETING = \"helo\"\n\n"
        'print(GREETING + ", world")\n'
    ),
    "notes.txt": "TODO: water the plants\nTODO: try the tour\ndone: install the agent\n",
    "build/old.log": "nothing of value\n",
    "build/old.tmp": "nothing of value either\n",
}  # fmt: skip


def lay_out(folder: Path) -> Path:
    """Put the tour's files into a folder of their own; raises OSError."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def tour(folder: Path | None, language: Language) -> Plan:
    """The whole tour; each step ends in a pause."""
    if folder is None:
        return Answer(say(language, "tour_nowhere"))
    on = (say(language, "tour_go_on"), say(language, "tour_next"))
    greet, build = str(folder / "greet.py"), str(folder / "build")
    read = yield from _step(
        Call("Read", {"file_path": greet}), say(language, "tour_read", folder=folder)
    )
    page = file_page(read.text, "greet.py", 100, language) if not read.is_error else read.text
    yield Wait(f"{page}\n\n{say(language, 'tour_read_after')}", *on)

    found = yield from _step(
        Call("Grep", {"pattern": "TODO", "path": str(folder)}), say(language, "tour_search")
    )
    hits = matches(found.text, "TODO", "tour", language) if not found.is_error else found.text
    yield Wait(f"{hits}\n\n{say(language, 'tour_search_after')}", *on)

    edit = {"file_path": greet, "old_string": '"helo"', "new_string": '"hello"'}
    edited = yield from _step(Call("Edit", edit), say(language, "tour_edit"))
    after = _what_came("tour_edit", edited, language)
    yield Wait(after, *on)

    command = f"rm -rf {shlex.quote(build)}"
    ran = yield from _step(Call("Bash", {"command": command}), say(language, "tour_command"))
    after = _what_came("tour_command", ran, language)
    yield Wait(after, *on)

    undo_first = f"/undo\n{say(language, 'tour_next')}"
    yield Wait(say(language, "tour_undo"), say(language, "tour_undo_on"), undo_first)
    return Answer(say(language, "tour_end"))


def stopped(language: Language) -> Plan:
    """What is said when the tour is left early."""
    yield from ()
    return Answer(say(language, "stopped"))


def _step(call: Call, text: str) -> Generator[Act, Sequence[Outcome], Outcome]:
    (outcome,) = yield Act([call], text)
    return outcome


def _what_came(step: str, outcome: Outcome, language: Language) -> str:
    if not outcome.is_error:
        return say(language, f"{step}_yes")
    return say(language, f"{step}_no", why=reason(outcome.text, language))
