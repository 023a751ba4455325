"""Shows or changes the profile: the role the agent plays."""

from agent_cli.commands._command import Command, Desk
from agent_cli.core.errors import UserError
from agent_cli.core.profile import Profile
from agent_cli.safety.sanitise import visible


def run(desk: Desk, argument: str) -> None:
    """With a name: play that role from now on."""
    session = desk.session
    if not argument:
        lines = [_line(profile) for profile in session.profiles]
        problems = [f"\n{visible(text)}" for text in session.profiles.problems]
        said = f"The profile is **{session.profile.name}**. `/profile NAME` changes it.\n\n"
        desk.say(said + "\n".join((*lines, *problems)))
        return
    try:
        session.use_profile(argument)
    except UserError as error:
        desk.warn(error.message, error.hint)
        return
    desk.say(f"The profile is now **{argument}**, the mode **{session.mode.value}**.")
    desk.changed()


def _line(profile: Profile) -> str:
    facts = [
        f"model {profile.model}" if profile.model else "",
        "read-only" if profile.read_only else "",
        f"tools {', '.join(profile.tools)}" if profile.tools != "all" else "",
        f"mode {profile.mode.value}" if profile.mode else "",
        f"budget ${profile.budget:g}" if profile.budget else "",
        profile.source if profile.source != "built in" else "",
    ]
    told = "; ".join(fact for fact in facts if fact)
    words = f"- **{profile.name}**: {profile.description}" + (f" ({told})" if told else "")
    return visible(words, one_line=True)


COMMAND = Command(name="profile", help="play another role", argument="[name]", run=run)
