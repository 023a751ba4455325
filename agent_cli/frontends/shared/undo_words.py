"""What a person reads of an undo, before and after it is done."""

from collections.abc import Sequence

from agent_cli.core.checkpoint import Record, RecordKind, Restored
from agent_cli.core.events import Notice
from agent_cli.core.undo import CHOICES, Choice, FilePlan, Preview
from agent_cli.core.undoing import Moment
from agent_cli.frontends.shared.answers import Answer
from agent_cli.lib.text import plural
from agent_cli.safety.sanitise import visible

NO = Answer("no", "No, leave everything as it is", "n")
MOST_LISTED = 500

_KEYS: dict[Choice, str] = {"keep": "k", "restore": "r", "markers": "m"}
_NOTES: dict[Choice, str] = {
    "keep": "as it is now",
    "restore": "as it was before the call; what you changed can be brought back with /redo",
    "markers": "both versions in one file, with markers around what differs",
}


def heading(preview: Preview) -> str:
    """What is asked."""
    if preview.kind == "redo":
        return f"Bring back what was undone, {_calls(preview)}?"
    return f"Take back {_calls(preview)}?"


def called(record: Record) -> str:
    """A call in a few words."""
    title = " ".join(record.title.split())
    return f"{record.tool} {title[:80]}".strip()


def file_line(plan: FilePlan, root: str, kind: RecordKind) -> tuple[str, str]:
    """A file, and what would become of it."""
    return shown(plan.path, root), _fate(plan, kind)


def shown(path: str, root: str) -> str:
    """A path as short as it can be said."""
    plain = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return visible(plain.removeprefix(root.rstrip("/") + "/"), one_line=True)


def yes(preview: Preview) -> Answer:
    """The answer that goes on."""
    label = "Yes, redo" if preview.kind == "redo" else "Yes, undo"
    conflicts = len(preview.conflicts)
    asks = f"asks about {plural(conflicts, 'conflict')} first" if conflicts else ""
    return Answer("yes", label, "y", note=asks)


def conflict_answers(plan: FilePlan) -> Sequence[Answer]:
    """What can be done about one conflict; the first is the default."""
    return tuple(
        Answer(each, CHOICES[each].capitalize(), _KEYS[each], note=_NOTES[each])
        for each in plan.choices
    )


def outcome(preview: Preview, restored: Restored, root: str) -> Notice:
    """What was done, in words."""
    verb = "Brought back" if preview.kind == "redo" else "Took back"
    back = "/undo takes it back again" if preview.kind == "redo" else "/redo brings it again"
    text = f"{verb} {_calls(preview)}: "
    text += f"{plural(len(restored.done), 'path')} changed; {back}."
    kept = len(preview.conflicts) - sum(each.path in restored.done for each in preview.conflicts)
    if kept:
        text += f" {plural(kept, 'file')} with changes of yours left as they are."
    for path, why in list(restored.failed.items())[:10]:
        text += f"\n{shown(path, root)} was left as it is: {why}."
    return Notice(level="warning" if restored.failed else "info", text=text)


def moment_answers(moments: Sequence[Moment], page: int, size: int = 9) -> Sequence[Answer]:
    """The prompts one can go back to, the newest first, a page at a time."""
    newest = list(reversed(moments))[page * size : (page + 1) * size]
    answers = [Answer("leave", "Stay here", "q")]
    for number, moment in enumerate(newest, 1):
        prompt = visible(" ".join(moment.prompt.split()), one_line=True) or "(tried again)"
        label = prompt if len(prompt) <= 50 else f"{prompt[:49]}…"
        answers.append(Answer(str(moment.turn), label, str(number), note=_changed(moment)))
    if (page + 1) * size < len(moments):
        answers.append(Answer("earlier", "Earlier prompts", "e"))
    return tuple(answers)


REWINDS: Sequence[Answer] = (
    Answer("leave", "Stay here", "q"),
    Answer("both", "Files and conversation", "b"),
    Answer("conversation", "Only the conversation", "c", note="files stay as they are"),
    Answer("files", "Only the files", "f", note="the model still knows what was said"),
)


def _changed(moment: Moment) -> str:
    paths = {change.path for record in moment.calls for change in record.changes}
    if not paths:
        return "changed no file"
    return f"{plural(len(paths), 'path')} changed by {plural(len(moment.calls), 'call')}"


def _calls(preview: Preview) -> str:
    """How many calls it is about; a redo is about those that the undo took back."""
    count = len(preview.records)
    if preview.kind == "redo":
        count = sum(len(each.of) for each in preview.records)
    return plural(count, "call")


def _fate(plan: FilePlan, kind: RecordKind) -> str:
    if plan.outcome == "restored" and kind == "redo":
        if not plan.then.exists:
            return "deleted again"
        return "changed again" if plan.now.exists else "made again"
    if plan.outcome == "restored":
        if not plan.then.exists:
            return "removed: the call made it"
        return "restored" if plan.now.exists else "restored: the call deleted it"
    if plan.outcome == "lost":
        return f"cannot be restored: {plan.why}"
    if plan.outcome == "conflict":
        return f"conflict: {plan.why}"
    if plan.outcome == "deleted by you":
        return "deleted by you: stays deleted"
    return "you changed it since: merged"
