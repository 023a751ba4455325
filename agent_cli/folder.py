"""A folder the program works in: the settings that hold there, and whether it is trusted."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from agent_cli.config.layers import PROJECT_FILE, Loaded, load
from agent_cli.config.places import Places
from agent_cli.extending import Asked
from agent_cli.lib.language import tr
from agent_cli.setup.overlay import learn, with_card, with_choice
from agent_cli.storage.learnt_rules import LearntRules
from agent_cli.storage.trust import Standing, TrustStore
from agent_cli.wishes import Wishes


def load_settings(wishes: Wishes, environment: Mapping[str, str]) -> Loaded:
    """The settings for a session in this directory."""
    places = Places.of(environment)
    standing = folder_standing(wishes, environment)
    loaded = load(
        user_file=places.config_file,
        project_file=wishes.cwd / PROJECT_FILE if standing.trusted else None,
        environment=environment,
        flags=wishes.settings,
    )
    warnings = [*loaded.warnings, *learnt_rules(places, str(wishes.cwd)).load().warnings]
    if standing.state == "changed":
        warnings.append(
            tr(
                "{folder} is not trusted any more: {files} changed. Look at it with `agent trust`.",
                folder=wishes.cwd,
                files=", ".join(standing.changed[:5]),
            )
        )
    settings = with_card(with_choice(loaded.settings, places), places)
    origins = dict(loaded.origins)
    if settings.model and not loaded.settings.model:
        origins["model"] = "agent setup"
    return replace(loaded, settings=settings, origins=origins, warnings=tuple(warnings))


def load_all_settings(wishes: Wishes, environment: Mapping[str, str]) -> Loaded:
    """The settings, with what a server on this machine says of the model; it is asked once."""
    loaded = load_settings(wishes, environment)
    places = Places.of(environment)
    warning = learn(loaded.settings, places)
    if not warning:
        return loaded
    settings = with_card(loaded.settings, places)
    return replace(loaded, settings=settings, warnings=(*loaded.warnings, warning))


def folder_standing(wishes: Wishes, environment: Mapping[str, str]) -> Standing:
    """Whether the folder is trusted: for this run by wish, or because it was stored."""
    if wishes.trust:
        return Standing("trusted")
    return trust_store(Places.of(environment)).standing(wishes.cwd)


def trust_store(places: Places) -> TrustStore:
    """Where the person's trust is kept."""
    return TrustStore(places.state / "trust")


def learnt_rules(places: Places, workspace: str) -> LearntRules:
    """Where the rules learnt in a workspace are kept."""
    return LearntRules(places.state / "rules", os.path.realpath(workspace))


def asked_here(environment: Mapping[str, str]) -> Asked:
    """What decides about extensions in the directory we stand in."""
    wishes = Wishes(cwd=Path.cwd().resolve())
    return Asked(
        folder=wishes.cwd,
        settings=load_settings(wishes, environment).settings,
        places=Places.of(environment),
        variables=environment,
        trust=trust_store(Places.of(environment)),
        trusted=folder_standing(wishes, environment).trusted,
    )
