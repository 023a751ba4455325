"""What users read about an undo, before and after it is done."""

from collections.abc import Sequence

from agent_cli.controller.answers import AnswerOption
from agent_cli.controller.view import MenuRow
from agent_cli.controller.wording import beginning, sentences
from agent_cli.core.events import Notice
from agent_cli.core.undo.checkpoint import PathChange, Record, RecordKind, RestoreOutcome
from agent_cli.core.undo.undo_plan import CHOICES, Choice, FilePlan, Preview
from agent_cli.core.undo.undoing import RewindPoint
from agent_cli.lib.language import mark, tr, trn
from agent_cli.safety.sanitise import visible

MAX_LISTED = 500
_MAX_PROMPT_CHARS = 50
"""Columns of a terminal."""

_KEYS: dict[Choice, str] = {"keep": "k", "restore": "r", "markers": "m"}
_NOTES: dict[Choice, str] = {
    "keep": mark("as it is now"),
    "restore": mark("the other version; yours is moved aside"),
    "markers": mark("both versions in one file, with conflict markers"),
}

_VERBS = {"created": mark("created"), "changed": mark("changed"), "deleted": mark("deleted")}


def heading(preview: Preview) -> str:
    """What is asked."""
    if preview.kind == "redo":
        return tr("Redo {calls}?", calls=_calls(preview))
    return tr("Undo {calls}?", calls=_calls(preview))


def describe_call(record: Record) -> str:
    """A call in a few words."""
    title = " ".join(record.title.split())
    return f"{record.tool} {title[:80]}".strip()


def verb(change: PathChange) -> str:
    """What a call did to a file, in a word."""
    return tr(_VERBS[change.verb])


def file_line(plan: FilePlan, root: str, kind: RecordKind) -> tuple[str, str]:
    """A file, and what would become of it."""
    return short_path(plan.path, root), _fate(plan, kind)


def short_path(path: str, root: str) -> str:
    """A path as short as it can be said."""
    plain = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return visible(plain.removeprefix(root.rstrip("/") + "/"), one_line=True)


def no() -> AnswerOption:
    """The answer that changes nothing."""
    return AnswerOption("no", tr("No, leave everything as it is"), "n")


def yes(preview: Preview) -> AnswerOption:
    """The answer that does it."""
    label = tr("Yes, redo") if preview.kind == "redo" else tr("Yes, undo")
    conflicts = len(preview.conflicts)
    asks = trn("asks about {n:,} conflict first", "asks about {n:,} conflicts first", conflicts)
    return AnswerOption("yes", label, "y", note=asks if conflicts else "")


def conflict_answers(plan: FilePlan) -> Sequence[AnswerOption]:
    """What can be done about one conflict; the first is the default."""
    return tuple(
        AnswerOption(each, tr(CHOICES[each]).capitalize(), _KEYS[each], note=tr(_NOTES[each]))
        for each in plan.choices
    )


def outcome(preview: Preview, restored: RestoreOutcome, root: str) -> Notice:
    """What was done, in words."""
    calls, files = _calls(preview), _files(len(restored.done))
    if not restored.done:
        text = tr("Nothing was restored.")
    elif preview.kind == "redo":
        text = tr("Redid {calls} ({files}).", calls=calls, files=files)
    else:
        text = tr("Undid {calls} ({files}). /redo reapplies it.", calls=calls, files=files)
    kept = len(preview.conflicts) - sum(each.path in restored.done for each in preview.conflicts)
    if kept:
        left = trn(
            "Kept {n:,} file with your own changes.",
            "Kept {n:,} files with your own changes.",
            kept,
        )
        text = sentences(text, left)
    for path, why in list(restored.failed.items())[:10]:
        told = tr("{path} was left as it is: {why}.", path=short_path(path, root), why=why)
        text += f"\n{told}"
    return Notice(level="info" if restored.done and not restored.failed else "warning", text=text)


def moment_answers(
    moments: Sequence[RewindPoint], page: int, size: int = 9
) -> Sequence[AnswerOption]:
    """The prompts one can go back to, the newest first, a page at a time."""
    newest = list(reversed(moments))[page * size : (page + 1) * size]
    answers = [AnswerOption("leave", tr("Stay here"), "q")]
    for number, moment in enumerate(newest, 1):
        prompt = visible(" ".join(moment.prompt.split()), one_line=True) or tr("(retry)")
        label = beginning(prompt, _MAX_PROMPT_CHARS)
        answers.append(
            AnswerOption(str(moment.turn), label, str(number), note=_describe_changes(moment))
        )
    if (page + 1) * size < len(moments):
        answers.append(AnswerOption("earlier", tr("Earlier prompts"), "e"))
    return tuple(answers)


def moment_rows(moments: Sequence[RewindPoint], root: str) -> list[MenuRow]:
    """Each prompt, and what its calls changed."""
    rows: list[MenuRow] = []
    changes = 0
    for moment in moments:
        rows.append(MenuRow(visible(" ".join(moment.prompt.split())[:200], one_line=True)))
        for record in moment.calls:
            rows.append(MenuRow(f"  {visible(describe_call(record), one_line=True)}"))
            for change in record.changes:
                changes += 1
                if changes <= MAX_LISTED:
                    text = f"    {verb(change)} {short_path(change.path, root)}"
                    rows.append(MenuRow(text, emphasis="muted"))
    if changes > MAX_LISTED:
        rows.append(MenuRow(tr("and {n:,} more", n=changes - MAX_LISTED)))
    return rows


def rewinds() -> Sequence[AnswerOption]:
    """What can be restored."""
    knows = tr("the model still sees the conversation")
    return (
        AnswerOption("leave", tr("Stay here"), "q"),
        AnswerOption("both", tr("Files and conversation"), "b"),
        AnswerOption(
            "conversation", tr("Conversation only"), "c", note=tr("files stay as they are")
        ),
        AnswerOption("files", tr("Files only"), "f", note=knows),
    )


def _describe_changes(moment: RewindPoint) -> str:
    paths = {change.path for record in moment.calls for change in record.changes}
    if not paths:
        return tr("no files changed")
    return tr("{files} changed", files=_files(len(paths)))


def _files(count: int) -> str:
    return trn("{n:,} file", "{n:,} files", count)


def _calls(preview: Preview) -> str:
    """How many changes it is about; a redo is about those that were undone."""
    count = len(preview.records)
    if preview.kind == "redo":
        count = sum(len(each.of) for each in preview.records)
    return trn("{n:,} change", "{n:,} changes", count)


def _fate(plan: FilePlan, kind: RecordKind) -> str:
    if plan.outcome == "restored" and kind == "redo":
        if not plan.then.exists:
            return tr("deleted again")
        return tr("changed again") if plan.now.exists else tr("created again")
    if plan.outcome == "restored":
        if not plan.then.exists:
            return tr("removed: the call created it")
        return tr("restored") if plan.now.exists else tr("restored: the call deleted it")
    if plan.outcome == "lost":
        return tr("can't be restored: {why}", why=plan.why)
    if plan.outcome == "conflict":
        return tr("conflict: {why}", why=plan.why)
    if plan.outcome == "deleted by you":
        return tr("you deleted it: stays deleted")
    return tr("merged with your changes")
