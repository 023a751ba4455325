"""Shows or changes the permission mode."""

from agent_cli.commands._command import Command, Desk
from agent_cli.core.permissions import Mode
from agent_cli.lib.language import mark, tr

MEANINGS = {
    Mode.DEFAULT: mark("asks before anything that is not proven to change nothing"),
    Mode.ACCEPT_EDITS: mark("edits files in the project unasked"),
    Mode.PLAN: mark("changes nothing"),
    Mode.AUTO: mark("edits unasked, and runs commands that are not dangerous in the sandbox"),
    Mode.YOLO: mark("asks nothing; deny rules and the catastrophic are still refused"),
}


def run(desk: Desk, argument: str) -> None:
    """With a name: change the mode."""
    if not argument:
        lines = [f"- **{mode.value}**: {tr(text)}" for mode, text in MEANINGS.items()]
        now = tr("The mode is **{mode}**.", mode=desk.session.mode.value)
        desk.say(f"{now}\n\n" + "\n".join(lines))
        return
    if argument not in list(Mode):
        names = ", ".join(Mode)
        desk.warn(
            tr("{name} is not a mode.", name=argument), tr("The modes are {names}.", names=names)
        )
        return
    desk.session.set_mode(Mode(argument))
    desk.changed()


COMMAND = Command(
    name="mode",
    help=mark("how much happens without a question"),
    argument=mark("[mode]"),
    run=run,
)
