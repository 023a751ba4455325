"""The configuration, the folder's trust, and the keys that are there."""

from agent_cli.config.layers import PROJECT_FILE, LoadedSettings
from agent_cli.core.errors import UserError
from agent_cli.doctor._check import Check, CheckContext, Finding, ok
from agent_cli.folder import folder_standing, load_settings
from agent_cli.launch_options import LaunchOptions
from agent_cli.lib.language import mark, tr
from agent_cli.models.providers import is_local, provider_of, take_credentials
from agent_cli.setup.key_store import KeyStore


def loaded_for(patient: CheckContext) -> LoadedSettings:
    """The settings that would apply; raises UserError."""
    return load_settings(LaunchOptions(cwd=patient.cwd), patient.environment)


def configuration(patient: CheckContext) -> Finding:
    """Whether every file can be read and every setting is known."""
    try:
        loaded = loaded_for(patient)
    except UserError as error:
        return Finding("problem", error.message, tr("a valid configuration"), remedy=error.hint)
    files = [patient.places.config_file, patient.cwd / PROJECT_FILE]
    read = [str(path) for path in files if path.is_file()]
    if loaded.warnings:
        return Finding(
            "warning", "; ".join(loaded.warnings), tr("no warnings"),
            remedy=tr("agent config shows every setting and where it comes from."),
        )  # fmt: skip
    return ok(", ".join(read) or tr("no files; using defaults"))


def trust(patient: CheckContext) -> Finding:
    """Whether this folder is trusted."""
    standing = folder_standing(LaunchOptions(cwd=patient.cwd), patient.environment)
    if standing.trusted:
        return ok(tr("this folder is trusted"))
    if standing.state != "changed":
        return ok(tr("this folder is not trusted"))
    return Finding(
        "warning", tr("no longer trusted"), tr("still trusted"),
        cause=tr("changed: {files}", files=", ".join(standing.changed[:5])),
        remedy=tr("Review the changes with agent trust."),
    )  # fmt: skip


def keys(patient: CheckContext) -> Finding:
    """Which keys there are, by name; never what they are."""
    variables = dict(patient.environment)
    stored = KeyStore(patient.places.config).load()
    names = sorted(name for name in {*take_credentials(variables), *stored} if "KEY" in name)
    measured = ", ".join(names) or tr("none")
    try:
        settings = loaded_for(patient).settings
    except UserError:
        return ok(measured)
    needed = provider_of(settings.model).key if settings.model else None
    needs_none = is_local(settings.model) or settings.api_base
    if needed and needed not in names and not needs_none:
        return Finding(
            "problem", measured, needed, cause=tr("{model} needs it", model=settings.model),
            remedy=tr("Set {variable}, or choose another model.", variable=needed),
        )  # fmt: skip
    return ok(measured)


CHECKS = (
    Check("settings", mark("configuration"), configuration),
    Check("settings", mark("trust"), trust, seconds=10),
    Check("settings", mark("keys"), keys),
)
