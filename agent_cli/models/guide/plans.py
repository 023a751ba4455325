"""One plan for each kind of request. A tool's result is shown as it is, never read for meaning."""

import re
import shlex
from collections.abc import Callable

from agent_cli.lib.language import tr
from agent_cli.models.guide.intents import KINDS_OF_FILES, Kind, Request
from agent_cli.models.guide.plan_steps import Act, FinalText, Outcome, Plan

PAGE_LINES = 200
"""Lines of a file that are shown at once."""


def plan_for(request: Request) -> Plan:
    """The plan for a request; a tour is planned elsewhere."""
    return _PLANS.get(request.kind, _say)(request)


def fence(text: str, language: str = "") -> str:
    """A text as it is, in a fence that it cannot break."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def content(page: str) -> str:
    """The lines of a file without the numbers that Read puts before them."""
    return "\n".join(text for _, text in _number(page)) or page


def _number(page: str) -> list[tuple[int, str]]:
    parts = (line.partition("\t") for line in page.split("\n"))
    return [(int(number), text) for number, tab, text in parts if tab and number.strip().isdigit()]


def _say(request: Request) -> Plan:
    yield from ()
    match request.kind:
        case "help":
            text = _help()
        case "setup":
            text = tr(
                "Leave with Ctrl+C twice and run `agent setup`: it looks for keys and for models "
                "on this machine, lets you choose one and stores a key where no project can see "
                "it. If you know the model's name: `agent --model anthropic/claude-sonnet-4-5`, "
                "or `/model NAME` here."
            )
        case "tests":
            text = tr("Which command runs them? Say it like `run pytest` or `run npm test`.")
        case "undo":
            text = tr("`/undo` undoes the last change. Type it, or press Enter now.")
            return FinalText(text, suggestion="/undo")
        case "stop" if request.get("tour"):
            text = tr("The tour is over. `help` says what I can do.")
        case "next" | "stop" | "tour":
            text = tr("There is no tour under way. `tour` starts one.")
        case _:
            text = tr(
                "That's beyond me: I'm the offline guide, a set of rules and not a language model, "
                "and I don't understand this request.\n\nI can show, list, find, search, edit and "
                "create files, run commands and ask git: `help` lists how to say it, `tour` shows "
                "it.\n\nFor everything else choose a real model: leave with Ctrl+C twice and run "
                "`agent setup`, or start with `agent --model NAME`."
            )
    return FinalText(text)


def _help() -> str:
    return tr(
        "I'm the **offline guide**: a set of rules built into this program, not a language model. "
        "I need no key and no network, and I work with the same tools, questions and limits as any "
        "model here. I understand plain requests such as:\n\n"
        "| say | what happens |\n|---|---|\n"
        "| `show README.md`, `show app.py lines 10-40` | reads a file |\n"
        "| `list files in src` | lists a folder |\n"
        "| `find *.py`, `find python files` | finds files by name |\n"
        "| `search for TODO in src` | searches in files |\n"
        "| `what changed`, `show the diff` | asks git |\n"
        "| `run npm test` | runs a command, after asking if it could change something |\n"
        "| `replace helo by hello in greet.py` | edits a file, after showing you the change |\n"
        "| `create notes.txt with …`, `delete old.txt` | makes or deletes a file, after asking |\n"
        "| `undo` | undoes a change |\n"
        "| `tour` | shows all this in a scratch folder, in five steps |\n\n"
        "For anything that needs understanding, choose a real model: leave with Ctrl+C twice and "
        "run `agent setup`."
    )


def _show(request: Request) -> Plan:
    path, lines, arguments = request.get("path"), PAGE_LINES, dict[str, object]()
    if first := int(request.get("first", "0")):
        lines = max(1, int(request.get("last", str(first))) - first + 1)
        arguments["offset"] = first
    read = yield Act("Read", {"file_path": path, "limit": lines, **arguments})
    if read.is_error:
        listed = yield Act("ListFiles", {"path": path})  # it may be a folder
        return _show_outcome(read if listed.is_error else listed)
    shown = _number(read.text)
    parts = [f"`{path}`:", fence(content(read.text))]
    if len(shown) == PAGE_LINES:
        last = shown[-1][0]
        values = {"path": path, "first": last + 1, "last": last + PAGE_LINES}
        parts.append(tr("To see more, say `show {path} lines {first}-{last}`.", **values))
    return FinalText("\n\n".join(parts))


def _list(request: Request) -> Plan:
    arguments = {"path": request.get("path", "."), "recursive": bool(request.get("deep"))}
    return _show_outcome((yield Act("ListFiles", arguments)))


def _find(request: Request) -> Plan:
    name = request.get("name")
    if kind := request.get("kind"):
        pattern = KINDS_OF_FILES[kind.lower()]
    elif "/" in name.strip("/") or name.startswith("**"):
        pattern = name
    else:
        pattern = f"**/{name}" if re.search(r"[*?\[{]", name) else f"**/*{name.strip('/')}*"
    return _show_outcome((yield Act("Glob", {"pattern": pattern})))


def _search(request: Request) -> Plan:
    text = request.get("text") or request.get("more")
    is_pattern = len(text) > 2 and text.startswith("/") and text.endswith("/")
    pattern = text[1:-1] if is_pattern else _literal(text)
    arguments = {"pattern": pattern, "path": request.get("path", ".")}
    return _show_outcome((yield Act("Grep", arguments)))


def _literal(text: str) -> str:
    """A regular expression that matches this text and nothing else."""
    return re.sub(r"[\\.+*?()|\[\]{}^$]", r"\\\g<0>", text)


def _changes(_request: Request) -> Plan:
    return _show_outcome((yield Act("GitInfo", {})))


def _diff(request: Request) -> Plan:
    path = f" -- {shlex.quote(request.get('path'))}" if request.get("path") else ""
    return _show_outcome((yield Act("Bash", {"command": f"git diff HEAD{path}"})), "diff")


def _run(request: Request) -> Plan:
    return _show_outcome((yield Act("Bash", {"command": request.get("command")})))


def _delete(request: Request) -> Plan:
    command = f"rm -- {shlex.quote(request.get('path'))}"
    return _report_change((yield Act("Bash", {"command": command})))


def _swap(request: Request) -> Plan:
    old, new, path = request.get("old"), request.get("new"), request.get("path")
    if request.get("everywhere") or re.search(r"[*?\[{]", path):
        glob = {"glob": path} if path else {}
        swap = {"pattern": _literal(old), "replacement": new.replace("$", "$$"), "preview": False}
        return _report_change((yield Act("Replace", {**swap, **glob})))
    if not path:
        values = {"old": old, "new": new}
        said = tr(
            "In which file? Say `replace {old} by {new} in FILE`, or `… everywhere`.", **values
        )
        return FinalText(said)
    read = yield Act("Read", {"file_path": path}, tr("I'll read it first."))
    if read.is_error:
        return _show_outcome(read)
    edit = {"file_path": path, "old_string": old, "new_string": new, "replace_all": True}
    return _report_change((yield Act("Edit", edit)))


def _create(request: Request) -> Plan:
    text = request.get("content")
    if text and not text.endswith("\n"):
        text += "\n"
    return _report_change((yield Act("Write", {"file_path": request.get("path"), "content": text})))


def _show_outcome(outcome: Outcome, language: str = "") -> FinalText:
    if outcome.is_declined:
        return FinalText(tr("Nothing was changed."))
    if outcome.is_error:
        failed = tr("That didn't work:")
        return FinalText(f"{failed}\n\n{fence(outcome.text)}")
    return FinalText(fence(outcome.text, language))


def _report_change(outcome: Outcome) -> FinalText:
    return _show_outcome(outcome) if outcome.is_error else FinalText(tr("Done. `/undo` undoes it."))


_PLANS: dict[Kind, Callable[[Request], Plan]] = {
    "show": _show, "list": _list, "find": _find, "search": _search, "changes": _changes,
    "diff": _diff, "run": _run, "delete": _delete, "swap": _swap, "create": _create,
}  # fmt: skip
