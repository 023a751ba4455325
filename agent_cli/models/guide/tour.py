"""The tour: five steps in a scratch folder, with real calls and real questions."""

import shlex
from collections.abc import Generator
from pathlib import Path

from agent_cli.lib.language import tr
from agent_cli.models.guide.plan_steps import Act, FinalText, Move, Outcome, Plan
from agent_cli.models.guide.plans import content, fence

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


def tour(folder: Path | None) -> Plan:
    """The whole tour; each step ends in a pause."""
    if folder is None:
        missing = tr(
            "The tour needs a scratch folder, and this session has none. Start it with "
            "`agent --model offline:guide` and say `tour`."
        )
        return FinalText(missing)
    yield from _read_and_search(folder)
    greet, build = str(folder / "greet.py"), str(folder / "build")
    opening = tr(
        "**3 of 5 · An edit.** Now I fix the misspelled greeting. A change asks first and shows "
        "you exactly what would change. Answer as you like: No is the default."
    )
    edit = {"file_path": greet, "old_string": '"helo"', "new_string": '"hello"'}
    edited = yield Act("Edit", edit, opening)
    told = tr(
        "The file is changed. Shift+Tab switches to accept-edits mode, where edits in a trusted "
        "folder don't ask."
    )
    if edited.is_error:
        told = tr(
            "The file is unchanged. A no, and your reason if you give one, goes to the model, "
            "which has to find another way."
        )
    yield _pause(told)

    opening = tr(
        "**4 of 5 · A dangerous command.** Now I ask to delete a folder for good with `rm -rf`. "
        "The question shows the exact command, what it would delete, and why it asks."
    )
    ran = yield Act("Bash", {"command": f"rm -rf {shlex.quote(build)}"}, opening)
    told = tr("The folder is still there.") if ran.is_error else tr("The folder is deleted.")
    check = tr(
        "`agent check 'COMMAND'` tells you in advance what would be decided about a command. "
        "Catastrophic ones, such as `rm -rf /`, are blocked in every mode."
    )
    yield _pause(f"{told} {check}")

    yield FinalText(
        tr("**5 of 5 · Undo.** `/undo` undoes the last change."),
        suggestion=f"/undo\n{_next()}",
        hint=tr("Press Enter to run it now, then Enter again (or say `next`) to finish the tour."),
    )
    closing = tr(
        "That was the tour. `help` lists what I understand in your own folder, F1 shows all "
        "keys. For a model that understands everything else, run `agent setup`."
    )
    return FinalText(closing)


def _read_and_search(folder: Path) -> Generator[Move, Outcome, None]:
    """The first two steps, which change nothing and so don't ask."""
    opening = tr(
        "**1 of 5 · Reading.** The tour runs in a scratch folder, `{folder}`, which is removed "
        "when you leave; your own files aren't touched. First I read a small program there:",
        folder=folder,
    )
    read = yield Act("Read", {"file_path": str(folder / "greet.py")}, opening)
    told = tr(
        "Every call is one line with its result; Enter or a click unfolds it. Reading inside the "
        "workspace changes nothing, so you weren't asked."
    )
    yield _pause(f"{fence(content(read.text))}\n\n{told}")

    opening = tr("**2 of 5 · Searching.** Now I look for `TODO` in all files of the folder:")
    found = yield Act("Grep", {"pattern": "TODO", "path": str(folder)}, opening)
    told = tr("A model works the same way: it calls tools, reads the results and continues.")
    yield _pause(f"{fence(found.text)}\n\n{told}")


def _pause(text: str) -> FinalText:
    hint = tr("Press Enter or say `next` to continue, `stop` to end the tour.")
    return FinalText(text, suggestion=_next(), hint=hint)


def _next() -> str:
    return tr("next")
