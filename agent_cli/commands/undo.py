"""Goes back: undoes changes of files, returns to an earlier prompt, retries a turn."""

from agent_cli.controller import undo_commands
from agent_cli.controller.controller import Controller
from agent_cli.controller.endings import has_failed
from agent_cli.controller.slash_command import slash_command
from agent_cli.lib.language import mark, tr


@slash_command("undo", mark("undo the last turn's file changes"), "[call]")
async def undo(controller: Controller, argument: str) -> None:
    """Those of the last call, or of the last turn."""
    await undo_commands.undo(controller, argument or "turn")


@slash_command("redo", mark("reapply what was undone"))
async def redo(controller: Controller, argument: str) -> None:
    """What was undone last."""
    await undo_commands.redo(controller)


@slash_command("rewind", mark("go back to an earlier prompt: files, conversation, or both"))
async def rewind(controller: Controller, argument: str) -> None:
    """To one that the user chooses."""
    await undo_commands.rewind(controller)


@slash_command("retry", mark("retry a failed turn"))
def retry(controller: Controller, argument: str) -> None:
    """Play the turn again that failed."""
    finished = controller.finished
    if not controller.is_busy and (finished is None or not has_failed(finished)):
        controller.warn(tr("Nothing to retry: the last turn didn't fail."))
    else:
        controller.play(controller.session.run(None))
