"""Shows or changes the permission mode."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import slash_command
from agent_cli.core.policy import Mode
from agent_cli.lib.language import mark, tr

MEANINGS = {
    Mode.DEFAULT: mark("asks before anything that could change something"),
    Mode.ACCEPT_EDITS: mark("edits files in the project without asking"),
    Mode.PLAN: mark("changes nothing"),
    Mode.AUTO: mark("edits without asking, and runs commands that aren't dangerous in the sandbox"),
    Mode.YOLO: mark("never asks; deny rules and catastrophic commands are still blocked"),
}


@slash_command("mode", mark("show or change the permission mode"), mark("[mode]"))
def change_mode(controller: Controller, argument: str) -> None:
    """With a name: change the mode."""
    if not argument:
        lines = [
            f"- **{mode.value}**: {tr(text)}"
            for mode, text in MEANINGS.items()
            if mode in controller.modes
        ]
        now = tr("The mode is **{mode}**.", mode=controller.session.mode.value)
        controller.view.say(f"{now}\n\n" + "\n".join(lines))
        return
    controller.set_mode(argument)


@slash_command("plan", mark("turn plan mode on or off"))
def toggle_plan(controller: Controller, argument: str) -> None:
    """Plan mode on, or off again."""
    planning = controller.session.mode is Mode.PLAN
    controller.session.set_mode(Mode.DEFAULT if planning else Mode.PLAN)
    controller.refresh()
