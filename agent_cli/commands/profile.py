"""Shows or changes the profile the agent works with."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import slash_command
from agent_cli.core.agents.agent_profile import Profile
from agent_cli.lib.language import mark, tr
from agent_cli.safety.sanitise import visible


@slash_command("profile", mark("show or change the profile"), mark("[name]"))
def run(controller: Controller, argument: str) -> None:
    """With a name: use that profile from now on."""
    session = controller.session
    if not argument:
        lines = [_line(profile) for profile in session.profiles]
        problems = [f"\n{visible(text)}" for text in session.profiles.problems]
        now = tr(
            "The profile is **{name}**. `/profile NAME` changes it.", name=session.profile.name
        )
        controller.view.say(f"{now}\n\n" + "\n".join((*lines, *problems)))
        return
    session.use_profile(argument)
    controller.view.say(
        tr(
            "The profile is now **{name}**, the mode **{mode}**.",
            name=argument,
            mode=session.mode.value,
        )
    )
    controller.refresh()


def _line(profile: Profile) -> str:
    facts = [
        tr("model {name}", name=profile.model) if profile.model else "",
        tr("read-only") if profile.read_only else "",
        tr("tools {names}", names=", ".join(profile.tools)) if profile.tools != "all" else "",
        tr("mode {name}", name=profile.mode.value) if profile.mode else "",
        tr("budget ${amount:g}", amount=profile.budget) if profile.budget else "",
        profile.source if profile.source != "built in" else "",
    ]
    told = "; ".join(fact for fact in facts if fact)
    words = tr(profile.description)
    if told:
        words = f"{words} ({told})"
    return visible(f"- **{profile.name}**: {words}", one_line=True)
