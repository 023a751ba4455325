"""Composes the profiles of a session: settings and files in, roles out."""

from dataclasses import replace
from pathlib import Path

from agent_cli.config.schema import Settings
from agent_cli.config.user_directories import Directories
from agent_cli.core.agents.agent_profile import DEFAULT, Profile, Profiles
from agent_cli.core.errors import UserError
from agent_cli.core.policy import Policy, stricter
from agent_cli.core.registry import DEFAULT_SELECTION, Registry, Selection
from agent_cli.launch_options import LaunchOptions
from agent_cli.lib.language import tr
from agent_cli.tools import task

PROJECT_PROFILES = ".agent/agents"


def find_profiles(
    settings: Settings, places: Directories, folder: Path, *, trusted: bool
) -> Profiles:
    """The roles an agent can play here."""
    user = places.config / "agents"
    project: Path | None = folder / PROJECT_PROFILES
    if not trusted or (folder / PROJECT_PROFILES).is_symlink():  # trust looks behind no such link
        project = None
    if not any(place is not None and place.is_dir() for place in (user, project)):
        return Profiles()
    from agent_cli.extensions.profile_files import ProfileFolders, read_profiles  # noqa: PLC0415 (start-up)

    named = {settings.model, settings.fast_model, *settings.fallback_models, *settings.models}
    return read_profiles(ProfileFolders(user, project), named)


def offer_agents(registry: Registry, profiles: Profiles, settings: Settings) -> None:
    """Tell the tool that sends agents of the roles there are, or take it away."""
    if settings.agents.depth == 0:
        registry.unregister(task.TOOL.name)
    elif registry.get(task.TOOL.name) is task.TOOL:
        registry.register(task.with_profiles(task.TOOL, profiles))


def first_profile(launch_options: LaunchOptions, profiles: Profiles, policy: Policy) -> Profile:
    """The role to begin with. Flags beat it, and a folder that is not trusted gets no looser mode
    from a file."""
    if not launch_options.profile:
        return DEFAULT
    profile = profiles.get(launch_options.profile)
    mode = profile.mode
    if "mode" in launch_options.settings:
        mode = None
    elif mode is not None and not policy.trusted:
        mode = stricter(policy.mode, mode)
    return replace(
        profile, mode=mode, model="" if "model" in launch_options.settings else profile.model
    )


def select_tools(launch_options: LaunchOptions, registry: Registry) -> Selection:
    """The tools that the command line asks for."""
    if launch_options.tools is None:
        return DEFAULT_SELECTION
    names = []
    for wanted in launch_options.tools:
        tool = registry.get(wanted)
        if tool is None:
            known = ", ".join(tool.name for tool in registry)
            raise UserError(
                tr("There is no tool named {name}.", name=wanted),
                hint=tr("The tools are: {names}.", names=known),
            )
        names.append(tool.name)
    return Selection(names=frozenset(names))
