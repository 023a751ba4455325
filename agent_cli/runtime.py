"""The composition root, the only module that knows all parts: settings in, a session out."""

import contextlib
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agent_cli import resuming, tools
from agent_cli.config.schema import ModelSettings, PermissionSettings, Settings
from agent_cli.config.user_directories import Directories
from agent_cli.core.deciding.rules import PatternBase, Rules
from agent_cli.core.errors import UserError
from agent_cli.core.inbox import Inbox
from agent_cli.core.log.history import History
from agent_cli.core.log.store import Observer, RecorderGroup, Store
from agent_cli.core.model import Model, Models
from agent_cli.core.money.spending import local_day
from agent_cli.core.parts import AgentLimits, Parts, UpkeepSettings, new_session_id
from agent_cli.core.policy import Effect, Mode, Policy
from agent_cli.core.registry import Registry
from agent_cli.core.result_filter import ResultFilter
from agent_cli.core.retry_policy import RetryPolicy
from agent_cli.core.session import Session
from agent_cli.core.tool_context import SessionView
from agent_cli.core.undo.checkpoint import Checkpoints, NoCheckpoints
from agent_cli.extension_setup import ExtensionContext, LaterExtensions, configured_hooks
from agent_cli.folder import (
    folder_standing,
    learnt_rules,
    load_settings,
    make_workspace,
    system_prompt,
    trust_store,
)
from agent_cli.launch_options import LaunchOptions
from agent_cli.lib.discovery import values_named
from agent_cli.lib.garbage import pause_collection
from agent_cli.lib.language import tr
from agent_cli.lib.own_environment import forget
from agent_cli.models.guide import NAME as GUIDE
from agent_cli.models.guide.greeting import maker, tour_folder
from agent_cli.models.providers import take_credentials
from agent_cli.models.remote_model import Endpoint
from agent_cli.models.source import ModelSource
from agent_cli.models.warm_client import Worker
from agent_cli.models.worker_process import WorkerProcess
from agent_cli.profiles import find_profiles, first_profile, offer_agents, select_tools
from agent_cli.safety.environment import child_environment, looks_secret
from agent_cli.safety.paths import Workspace
from agent_cli.safety.redact import Redactor
from agent_cli.safety.sandbox import SandboxChoice
from agent_cli.setup.key_store import with_kept_keys
from agent_cli.storage.audit_log import AuditLog
from agent_cli.storage.checkpoint_store import CheckpointStore
from agent_cli.storage.metrics import Metrics
from agent_cli.storage.program_log import start_log
from agent_cli.storage.session_store import Sessions

log = logging.getLogger(__name__)


def find_session(launch_options: LaunchOptions, environment: Mapping[str, str]) -> LaunchOptions:
    """The options with the session they mean, its directory and its model; raises UserError."""
    if launch_options.resume is None:
        return launch_options
    sessions = Sessions(Directories.of(environment).state)
    resume = resuming.find(launch_options.resume, launch_options.cwd, sessions)
    assert resume.found is not None
    cwd = resuming.directory(resume, launch_options.cwd)
    settings = dict(launch_options.settings)
    model, counted = resume.found.model, metrics_file(Directories.of(environment))
    if model and not environment.get("AGENT_MODEL") and "model" not in settings:
        configured = load_settings(replace(launch_options, cwd=cwd), environment).settings
        if resuming.knows_model(model, configured, counted):
            settings["model"] = model
    # Trust was asked for the directory that was in view, not for whichever the session was in.
    trust = launch_options.trust and os.path.realpath(cwd) == os.path.realpath(launch_options.cwd)
    return replace(launch_options, resume=resume, cwd=cwd, settings=settings, trust=trust)


_forgotten: dict[str, str] = {}
"""Credentials that an earlier session took out of this process's environment."""


def whole_environment() -> dict[str, str]:
    """This process's environment as it was before any session took credentials out of it."""
    return {**_forgotten, **os.environ}


def built_in_tools() -> Registry:
    """A registry with every built-in tool."""
    registry = Registry()
    with pause_collection():
        for tool in values_named("TOOL", tools):
            registry.register(tool, on_conflict="error")
    return registry


def open_session(
    launch_options: LaunchOptions,
    settings: Settings,
    *,
    environment: Mapping[str, str] | None = None,
    models: Models | None = None,
    registry: Registry | None = None,
    worker: Worker | None = None,
) -> Session:
    """A session, ready to run. `worker` is a worker process that was started ahead of time.

    What a failed attempt had opened is closed again, so that the next one can have it.
    """
    variables, secrets, credentials = _environment(environment)
    places = Directories.of(variables)
    credentials = with_kept_keys(credentials, places.config)
    redactor = Redactor(secrets | credentials)
    start_log(places.log_file, redactor.redact)
    trusted = folder_standing(launch_options, variables).trusted
    registry = registry or built_in_tools()
    with contextlib.ExitStack() as opened:
        temporary = _private_temporary()
        opened.callback(shutil.rmtree, temporary or "", ignore_errors=True)
        session_id, store, past = resuming.open_store(
            launch_options.resume, Sessions(places.state, redactor.redact), new_session_id()
        )
        opened.callback(store.close)
        spill = places.state / "results" / session_id
        scratch = tour_folder(settings.model, temporary)
        workspace = make_workspace(
            launch_options, variables, places, readable=spill, scratch=scratch, settings=settings
        )
        opening = _Opening(
            launch_options, settings, places, variables, credentials, workspace, trusted
        )
        guide = maker(scratch, is_paced=launch_options.attended)
        process = WorkerProcess(worker, warm_minutes=settings.warm_minutes)
        session = Session(
            _parts(
                opening,
                view=_view(opening, session_id, temporary, redactor),
                models=models or model_source(settings, credentials, process, guide),
                registry=registry,
                store=store,
                past=past,
                result_filter=ResultFilter(redactor, spill),
            )
        )
        opened.pop_all()
    return session


@dataclass(frozen=True)
class _Opening:
    """What is known of a session before its parts are made."""

    launch_options: LaunchOptions
    settings: Settings
    places: Directories
    variables: Mapping[str, str]
    credentials: Mapping[str, str]
    workspace: Workspace
    trusted: bool


def _view(
    opening: _Opening, session_id: str, temporary: str | None, redactor: Redactor
) -> SessionView:
    """What tools may know of the session."""
    settings, workspace = opening.settings, opening.workspace
    return SessionView(
        id=session_id,
        workspace=workspace,
        environment=child_environment(
            opening.variables,
            extra={"TMPDIR": temporary} if temporary else {},
            passed=settings.environment.passed,
            workspace=None if opening.trusted else workspace.root,
        ),
        settings=settings.tools,
        takes_images=_of(settings, settings.model).takes_images,
        sandbox=SandboxChoice(settings.sandbox),
        temporary=temporary,
        redact=redactor.redact,
    )


def _parts(
    opening: _Opening,
    *,
    view: SessionView,
    models: Models,
    registry: Registry,
    store: Store,
    past: History,
    result_filter: ResultFilter,
) -> Parts:
    launch_options, settings, places = opening.launch_options, opening.settings, opening.places
    workspace, trusted = opening.workspace, opening.trusted
    hooks = configured_hooks(settings, view.id, workspace.root, view.environment, trusted=trusted)
    inbox = Inbox(attended=launch_options.attended)
    metrics = Metrics(metrics_file(places), registry_size=lambda: len(registry), today=local_day)
    policy = make_policy(launch_options, settings, workspace, places, trusted=trusted)
    if "mode" not in launch_options.settings:
        attended = launch_options.attended
        policy.mode = resuming.restored_mode(past, policy.mode, attended=attended)
    profiles = find_profiles(settings, places, launch_options.cwd, trusted=trusted)
    offer_agents(registry, profiles, settings)
    return Parts(
        view=view,
        models=models,
        model=chosen_model(settings),
        fallbacks=settings.fallback_models,
        registry=registry,
        policy=policy,
        inbox=inbox,
        extensions=LaterExtensions(_extension_context(opening), registry, inbox, hooks),
        hooks=hooks,
        recorder=RecorderGroup(metrics, AuditLog(places.state / "audit.jsonl")),
        observers=(metrics, *_telemetry(settings.telemetry.endpoint)),
        statistics=lambda: metrics.statistics(local_day()),
        store=store,
        history=past,
        kept_rules=learnt_rules(places, workspace.root),
        checkpoints=_checkpoints(opening, view.id),
        result_filter=result_filter,
        system_prompt=system_prompt(
            launch_options, settings, workspace, places, policy=policy, redact=view.redact
        ),
        selection=select_tools(launch_options, registry),
        profiles=profiles,
        profile=first_profile(launch_options, profiles, policy),
        agent_limits=AgentLimits(**settings.agents.model_dump()),
        max_steps=settings.limits.steps,
        upkeep_settings=UpkeepSettings(
            session=settings.budget.session,
            day=settings.budget.day,
            others_today=metrics.others_today,
            compact_at=settings.context.compact_at,
            automatic=settings.context.automatic,
            fast_model=settings.fast_model,
        ),
        retry=RetryPolicy(attempts=settings.limits.retries + 1),
    )


def _extension_context(opening: _Opening) -> ExtensionContext:
    """What decides about extensions."""
    return ExtensionContext(
        folder=opening.launch_options.cwd,
        settings=opening.settings,
        places=opening.places,
        variables={**opening.variables, **opening.credentials},
        trust=trust_store(opening.places),
        trusted=opening.trusted,
    )


def _environment(
    given: Mapping[str, str] | None,
) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """The variables without credentials, what among them looks secret, and the credentials."""
    variables = whole_environment() if given is None else dict(given)
    secrets = {name: value for name, value in variables.items() if looks_secret(name, value)}
    credentials = take_credentials(variables)
    if given is None:
        forget(credentials)
        _forgotten.update(credentials)
    return variables, secrets, credentials


def _checkpoints(opening: _Opening, session_id: str) -> Checkpoints:
    """Where what is needed to undo calls is kept, if the user wants that."""
    wanted, workspace = opening.settings.checkpoints, opening.workspace
    if not wanted.enabled:
        return NoCheckpoints()
    return CheckpointStore(
        opening.places.state / "checkpoints",
        session_id,
        roots=(workspace.root, *workspace.added),
        home=workspace.home,
        environment={name: opening.variables.get(name, "") for name in ("PATH", "HOME")},
        quota=wanted.quota * 1_000_000,
        days=wanted.days,
    )


def tidy(settings: Settings, environment: Mapping[str, str]) -> None:
    """Delete the sessions that are kept no longer; what fails here concerns nobody else."""
    try:
        Sessions(Directories.of(environment).state).prune_daily(settings.sessions.keep_days)
    except Exception:
        log.exception("old sessions could not be deleted")


def _telemetry(endpoint: str) -> tuple[Observer, ...]:
    """What sends spans, if that is wished for."""
    if not endpoint:
        return ()
    try:
        from agent_cli.storage.telemetry import Telemetry  # noqa: PLC0415 (an extra, rarely used)
    except ImportError as error:
        raise UserError(
            tr("OpenTelemetry is not installed, but telemetry.endpoint is set."),
            hint=tr("Install the extra: pip install 'agent-cli[otel]'."),
        ) from error
    return (Telemetry(endpoint),)


def _private_temporary() -> str | None:
    """A directory for the temporary files of commands; None where none can be made."""
    try:
        return tempfile.mkdtemp(prefix="agent-")
    except OSError:
        return None


def model_source(
    settings: Settings,
    credentials: Mapping[str, str],
    worker: WorkerProcess,
    guide: Callable[[], Model] | None = None,
) -> ModelSource:
    """Where the session's models come from."""
    endpoints: dict[str, Endpoint] = {}
    for name in (settings.model, settings.fast_model, *settings.fallback_models, *settings.models):
        own = _of(settings, name)
        endpoints[name] = Endpoint(
            model=name,
            api_base=own.api_base or (settings.api_base if name == settings.model else None),
            idle_timeout=settings.limits.idle_seconds,
            **own.model_dump(exclude={"api_base", "prompted_tools", "takes_images"}),
        )
    prompted = {
        name: model.prompted_tools
        for name, model in settings.models.items()
        if model.prompted_tools is not None
    }
    return ModelSource(credentials, endpoints, worker, prompted=prompted, guide=guide)


def metrics_file(places: Directories) -> Path:
    """Where calls and requests are counted."""
    return places.state / "stats.db"


def chosen_model(settings: Settings) -> str:
    """The name of the model to use; raises UserError if none is chosen."""
    if not settings.model:
        raise UserError(
            tr("No model chosen."),
            hint=tr(
                "Run `agent setup`, or set one with --model, AGENT_MODEL or `model = …` in the "
                "configuration: anthropic/claude-sonnet-4-5, ollama_chat/qwen3, or {guide}, "
                "which needs no key.",
                guide=GUIDE,
            ),
        )
    return settings.model


def _of(settings: Settings, model: str) -> ModelSettings:
    return settings.models.get(model) or ModelSettings()


def make_policy(
    launch_options: LaunchOptions,
    settings: Settings,
    workspace: Workspace,
    places: Directories,
    *,
    trusted: bool,
) -> Policy:
    """What applies in a folder. One that is not trusted gets read-only tools, plus what the
    command line of this very run lets through; what loosens for good does not reach it."""
    permissions = settings.permissions
    learnt = learnt_rules(places, workspace.root).load().rules
    allow, mode = permissions.texts(Effect.ALLOW), settings.mode
    if not trusted:
        learnt = replace(learnt, allow=())
        given = PermissionSettings.model_validate(launch_options.settings.get("permissions", {}))
        allow = given.texts(Effect.ALLOW)
        mode = mode if mode is Mode.PLAN or "mode" in launch_options.settings else Mode.DEFAULT
    rules = Rules.parse(allow, permissions.texts(Effect.ASK), permissions.texts(Effect.DENY))
    return Policy(
        place=PatternBase(root=workspace.root, home=workspace.home),
        rules=rules + learnt,
        mode=mode,
        trusted=trusted,
        ask_dangerous=permissions.dangerous_cmd,
        confine_approved=settings.sandbox_approved,
    )
