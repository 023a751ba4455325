"""A folder the program works in: its settings and instructions, and whether it is trusted."""

import contextlib
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from agent_cli.config.layers import PROJECT_FILE, LoadedSettings, load, server_tables
from agent_cli.config.schema import Settings
from agent_cli.config.user_directories import Directories
from agent_cli.core.deciding.rules import Facts, PathFact
from agent_cli.core.deciding.trust_items import SERVERS
from agent_cli.core.errors import UserError
from agent_cli.core.policy import Effect, Policy
from agent_cli.core.system_prompt import (
    PromptFacts,
    build,
    instruction_directories,
    read_instructions,
)
from agent_cli.core.tool import ToolKind
from agent_cli.extension_setup import ExtensionContext
from agent_cli.launch_options import LaunchOptions
from agent_cli.lib.files import read_json_object
from agent_cli.lib.language import tr
from agent_cli.safety.environment import project_entries
from agent_cli.safety.paths import PathProblem, Workspace
from agent_cli.safety.sanitise import for_model
from agent_cli.safety.scripts import named_scripts
from agent_cli.setup.overlay import learn, with_card, with_choice
from agent_cli.storage.learnt_rules import LearntRules
from agent_cli.storage.trust_store import FolderTrust, TrustStore

_MAX_BYTES = 1_000_000


def load_settings(launch_options: LaunchOptions, environment: Mapping[str, str]) -> LoadedSettings:
    """The settings for a session in this directory."""
    places = Directories.of(environment)
    standing = folder_standing(launch_options, environment)
    loaded = load(
        user_file=places.config_file,
        project_file=launch_options.cwd / PROJECT_FILE if standing.trusted else None,
        environment=environment,
        flags=launch_options.settings,
    )
    warnings = [*loaded.warnings, *learnt_rules(places, str(launch_options.cwd)).load().warnings]
    if standing.state == "changed":
        warnings.append(
            tr(
                "{folder} is no longer trusted: {files} changed. Review it with `agent trust`.",
                folder=launch_options.cwd,
                files=", ".join(standing.changed[:5]),
            )
        )
    settings = with_card(with_choice(loaded.settings, places), places)
    found = launch_options.resume.found if launch_options.resume else None
    if found and found.model and settings.model and found.model != settings.model:
        said = tr("This session used {model}; it continues with {other}. /model changes it.",
                  model=found.model, other=settings.model)  # fmt: skip
        warnings.append(said)
    origins = dict(loaded.origins)
    if settings.model and not loaded.settings.model:
        origins["model"] = "agent setup"
    return replace(loaded, settings=settings, origins=origins, warnings=tuple(warnings))


def load_all_settings(
    launch_options: LaunchOptions, environment: Mapping[str, str]
) -> LoadedSettings:
    """The settings, with what a server on this machine says of the model; it is asked once."""
    loaded = load_settings(launch_options, environment)
    places = Directories.of(environment)
    warning = learn(loaded.settings, places)
    if not warning:
        return loaded
    settings = with_card(loaded.settings, places)
    return replace(loaded, settings=settings, warnings=(*loaded.warnings, warning))


def folder_standing(launch_options: LaunchOptions, environment: Mapping[str, str]) -> FolderTrust:
    """Whether the folder is trusted: for this run by option, or because it was stored."""
    if launch_options.trust:
        return FolderTrust("trusted")
    return trust_store(Directories.of(environment)).standing(launch_options.cwd)


def trust_store(places: Directories) -> TrustStore:
    """Where the user's trust is kept."""
    return TrustStore(places.state / "trust", places.config_file)


def learnt_rules(places: Directories, workspace: str) -> LearntRules:
    """Where the rules learnt in a workspace are kept."""
    return LearntRules(places.state / "rules", os.path.realpath(workspace))


def asked_here(environment: Mapping[str, str]) -> ExtensionContext:
    """What decides about extensions in the current directory."""
    launch_options = LaunchOptions(cwd=Path.cwd().resolve())
    return ExtensionContext(
        folder=launch_options.cwd,
        settings=load_settings(launch_options, environment).settings,
        places=Directories.of(environment),
        variables=environment,
        trust=trust_store(Directories.of(environment)),
        trusted=folder_standing(launch_options, environment).trusted,
    )


def make_workspace(
    launch_options: LaunchOptions,
    variables: Mapping[str, str],
    places: Directories,
    *,
    readable: Path,
    scratch: Path | None,
    settings: Settings,
) -> Workspace:
    """What a session may touch; `scratch` is a folder of its own, `readable` one it may read."""
    roots = (
        str(launch_options.cwd),
        *map(str, (*launch_options.added, *([scratch] if scratch else []))),
    )
    return Workspace(
        root=roots[0],
        added=roots[1:],
        home=variables.get("HOME") or str(Path.home()),
        own=(str(places.config), str(places.state)),
        programs=project_entries(variables.get("PATH", ""), roots),
        readable=(str(readable), str(places.config / "skills")),
        executed=frozenset(_executed(launch_options.cwd, settings, places)),
    )


def _executed(folder: Path, settings: Settings, places: Directories) -> Iterator[str]:
    """The files of a folder that hooks and MCP servers run."""
    for hook in settings.hooks:
        yield from named_scripts(hook.command, str(folder))
    tables: list[Any] = []
    with contextlib.suppress(UserError):
        tables += server_tables(places.config_file).values()
        tables += server_tables(folder / PROJECT_FILE).values()
    tables += read_json_object(folder / SERVERS, _MAX_BYTES).get("mcpServers", {}).values()
    for table in tables:
        with contextlib.suppress(AttributeError, KeyError, TypeError):  # whatever else it may be
            words = shlex.join((table["command"], *table.get("args", ())))
            yield from named_scripts(words, str(folder), str(folder / table.get("cwd", ".")))


def _may_read(workspace: Workspace, policy: Policy, path: Path) -> bool:
    """Whether a file may enter a prompt: no secret, and nothing that rules keep from the model."""
    try:
        found = workspace.resolve(str(path))
    except PathProblem:
        return False
    facts = workspace.facts(found)
    if facts.secret or facts.special or ".git" in Path(found.real).parts:
        return False
    # Where instructions may lie was decided before: those of the repository's root lie above.
    fact = PathFact(str(path), found.real, "read", lexical=found.lexical)
    read = Facts(tool="Read", kind=ToolKind.READONLY, needs_permission=False, paths=(fact,))
    return policy.decide(read).effect is Effect.ALLOW


def system_prompt(
    launch_options: LaunchOptions,
    settings: Settings,
    workspace: Workspace,
    places: Directories,
    *,
    policy: Policy,
    redact: Callable[[str], str],
) -> str:
    """What the model is told first: about the folder, and what its instruction files say. They
    pass the same rules as if the model had read them, and the same redaction."""
    trusted = policy.trusted
    instructions = ""
    if settings.instructions.enabled:
        root = Path(workspace.root)
        directories = instruction_directories(places.config, root, trusted=trusted)
        most = settings.instructions.most_bytes
        may_read = partial(_may_read, workspace, policy)
        read = read_instructions(directories, most, own=places.config, may_read=may_read)
        instructions = redact(for_model(read)[0])
    surroundings = PromptFacts(
        Path(workspace.root),
        datetime.now().astimezone().date(),
        added=tuple(map(Path, workspace.added)),
        trusted=trusted,
    )
    return build(
        surroundings,
        instructions,
        instead=launch_options.system_prompt,
        appended=launch_options.appended_prompt,
    )
