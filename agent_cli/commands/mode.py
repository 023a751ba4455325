"""Shows or changes the permission mode."""

from agent_cli.commands._command import Command, Desk
from agent_cli.core.permissions import Mode

MEANINGS = {
    Mode.DEFAULT: "asks before anything that is not proven to change nothing",
    Mode.ACCEPT_EDITS: "edits files in the project unasked",
    Mode.PLAN: "changes nothing",
    Mode.AUTO: "edits unasked, and runs commands that are not dangerous in the sandbox",
    Mode.YOLO: "asks nothing; deny rules and the catastrophic are still refused",
}


def run(desk: Desk, argument: str) -> None:
    """With a name: change the mode."""
    if not argument:
        lines = [f"- **{mode.value}**: {text}" for mode, text in MEANINGS.items()]
        desk.say(f"The mode is **{desk.session.mode.value}**.\n\n" + "\n".join(lines))
        return
    if argument not in list(Mode):
        desk.warn(f"{argument} is not a mode.", f"The modes are {', '.join(Mode)}.")
        return
    desk.session.set_mode(Mode(argument))
    desk.changed()


COMMAND = Command(
    name="mode", help="how much happens without a question", argument="[mode]", run=run
)
