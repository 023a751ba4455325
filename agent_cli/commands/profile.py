"""Shows or changes the profile: the role the agent plays."""

from agent_cli.commands._command import Command, Desk
from agent_cli.core.agents.profile import Profile
from agent_cli.core.errors import UserError
from agent_cli.lib.language import mark, tr
from agent_cli.safety.sanitise import visible


def run(desk: Desk, argument: str) -> None:
    """With a name: play that role from now on."""
    session = desk.session
    if not argument:
        lines = [_line(profile) for profile in session.profiles]
        problems = [f"\n{visible(text)}" for text in session.profiles.problems]
        now = tr(
            "The profile is **{name}**. `/profile NAME` changes it.", name=session.profile.name
        )
        desk.say(f"{now}\n\n" + "\n".join((*lines, *problems)))
        return
    try:
        session.use_profile(argument)
    except UserError as error:
        desk.warn(error.message, error.hint)
        return
    desk.say(
        tr(
            "The profile is now **{name}**, the mode **{mode}**.",
            name=argument,
            mode=session.mode.value,
        )
    )
    desk.changed()


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


COMMAND = Command(name="profile", help=mark("play another role"), argument=mark("[name]"), run=run)
