"""Goes back: undoes changes of files, returns to an earlier prompt, retries a turn."""

from collections.abc import Sequence

from agent_cli.controller import undo_words as words
from agent_cli.controller.controller import Controller
from agent_cli.controller.endings import has_failed
from agent_cli.controller.slash_command import slash_command
from agent_cli.controller.view import Menu, MenuRow
from agent_cli.core.errors import UserError
from agent_cli.core.undo.undo_plan import Choice, Preview
from agent_cli.core.undo.undoing import RewindPoint
from agent_cli.lib.language import mark, tr
from agent_cli.safety.sanitise import visible

REWIND_REASON = "rewind"
"""Why the log of a session continues from an earlier entry."""


@slash_command("undo", mark("undo the last turn's file changes"), "[call]")
async def undo(controller: Controller, argument: str) -> None:
    """The last "call" or "turn", or a call by its id."""
    with controller.exclusively():
        await _confirm(controller, await controller.session.undoing.preview(argument or "turn"))


@slash_command("redo", mark("reapply what was undone"))
async def redo(controller: Controller, argument: str) -> None:
    """What was undone last."""
    with controller.exclusively():
        await _confirm(controller, await controller.session.undoing.preview_redo())


@slash_command("rewind", mark("go back to an earlier prompt: files, conversation, or both"))
async def rewind(controller: Controller, argument: str) -> None:
    """Ask which prompt to go back to, and what to restore."""
    with controller.exclusively():
        moments = await controller.session.undoing.moments()
        if not moments:
            raise UserError(tr("There is no earlier prompt to go back to."))
        if moment := await _choose_moment(controller, moments):
            later = [each for each in moments if each.turn >= moment.turn]
            await _rewind_to(controller, moment, later)


@slash_command("retry", mark("retry a failed turn"))
def retry(controller: Controller, argument: str) -> None:
    """Play the turn again that failed."""
    finished = controller.finished
    if not controller.is_busy and (finished is None or not has_failed(finished)):
        controller.warn(tr("Nothing to retry: the last turn didn't fail."))
    else:
        controller.play(controller.session.run(None))


async def _choose_moment(
    controller: Controller, moments: Sequence[RewindPoint]
) -> RewindPoint | None:
    page = 0
    while True:
        options = words.moment_answers(moments, page)
        menu = Menu(tr("Go back to before which prompt?"), options, leave="leave")
        match await controller.view.choose(menu):
            case "leave":
                return None
            case "earlier":
                page += 1
            case turn:
                return next(each for each in moments if each.turn == int(turn))


async def _rewind_to(
    controller: Controller, moment: RewindPoint, later: Sequence[RewindPoint]
) -> None:
    session, view = controller.session, controller.view
    rows = words.moment_rows(later, session.workspace.root)
    heading = tr("What do you want to restore?")
    what = await view.choose(Menu(heading, words.rewinds(), rows, leave="leave"))
    if what == "leave":
        return
    if what != "conversation":
        preview = await session.undoing.preview_since(moment.turn)
        if preview.records and not await _confirm(controller, preview):
            return
    if what != "files" and moment.entry is not None:
        controller.show_again(session.rewind(moment.entry, REWIND_REASON).events)
    view.prefill(moment.prompt)


async def _confirm(controller: Controller, preview: Preview) -> bool:
    """Ask about the files and do it; False: the user declined."""
    root = controller.session.workspace.root
    menu = Menu(words.heading(preview), (words.no(), words.yes(preview)), _rows(preview, root))
    if await controller.view.choose(menu) != "yes":
        return False
    choices = await _settle_conflicts(controller, preview)
    restored = await controller.session.undoing.apply(preview, choices)
    notice = words.outcome(preview, restored, root)
    controller.session.note(notice)
    await controller.read_diffs()
    controller.view.show(notice)  # last: whoever reads it may ask for the next undo
    return True


async def _settle_conflicts(controller: Controller, preview: Preview) -> dict[str, Choice]:
    """What becomes of each conflict, asked one by one; without an answer, a file stays."""
    choices: dict[str, Choice] = {}
    for plan in preview.conflicts:
        name, fate = words.file_line(plan, controller.session.workspace.root, preview.kind)
        heading = tr("You changed this file since")
        menu = Menu(heading, words.conflict_answers(plan), (MenuRow(name, fate),), leave="")
        answer = await controller.view.choose(menu)
        choices[plan.path] = next((each for each in plan.choices if each == answer), "keep")
    return choices


def _rows(preview: Preview, root: str) -> list[MenuRow]:
    rows = [
        MenuRow(visible(words.describe_call(record), one_line=True), emphasis="muted")
        for record in preview.records[: words.MAX_LISTED]
    ]
    rows.append(MenuRow(""))
    rows += [MenuRow(note, emphasis="warning") for note in preview.notes]
    if not preview.files:
        rows.append(MenuRow(tr("All files are already as they were.")))
    for plan in preview.files[: words.MAX_LISTED]:
        name, fate = words.file_line(plan, root, preview.kind)
        is_doubtful = plan.outcome in ("conflict", "lost")
        rows.append(MenuRow(name, fate, "warning" if is_doubtful else "normal"))
    if len(preview.files) > words.MAX_LISTED:
        rows.append(MenuRow(tr("and {n:,} more", n=len(preview.files) - words.MAX_LISTED)))
    return rows
