"""The model: one small request, and how long it takes."""

import time

from agent_cli.core.errors import ModelError, UserError
from agent_cli.core.messages import UserMessage
from agent_cli.core.model import ModelRequest
from agent_cli.doctor._check import Check, CheckContext, Finding, ok, skip
from agent_cli.doctor.settings_checks import loaded_for
from agent_cli.lib.language import mark, tr
from agent_cli.models.providers import take_credentials
from agent_cli.models.worker_process import WorkerProcess
from agent_cli.runtime import chosen_model, model_source
from agent_cli.setup.key_store import KeyStore

_SLOW_S = 20.0


async def reachable(patient: CheckContext) -> Finding:
    """Whether it answers."""
    if patient.offline:
        return skip("--offline")
    try:
        settings = loaded_for(patient).settings
    except UserError:
        return skip(tr("the configuration can't be read"))
    try:
        name = chosen_model(settings)
        credentials = {
            **KeyStore(patient.places.config).load(),
            **take_credentials(dict(patient.environment)),
        }
        source = model_source(settings, credentials, WorkerProcess())
    except UserError as error:
        cause = tr("until then the offline guide answers, with fixed rules instead of a model")
        return Finding("warning", error.message, tr("a model"), cause, error.hint)
    try:
        await source.warm(name)  # loading LiteLLM is not the model's time
        model, began = source.get(name), time.monotonic()
        request = ModelRequest(system="", messages=(UserMessage(content="Reply with: ok"),))
        async for _ in model.stream(request):
            pass
        return _describe(name, time.monotonic() - began)
    except (ModelError, UserError) as error:
        measured = f"{name}: {error.message}"
        return Finding("problem", measured, tr("an answer"), remedy=error.hint)
    finally:
        await source.close()


def _describe(name: str, seconds: float) -> Finding:
    measured = tr("{model} answered in {seconds:.1f} s", model=name, seconds=seconds)
    if seconds < _SLOW_S:
        return ok(measured)
    return Finding(
        "warning", measured, tr("less than {seconds:.0f} s", seconds=_SLOW_S),
        cause=tr("the network, the provider or a local model is slow"),
        remedy=tr("Try again later, or choose a faster model."),
    )  # fmt: skip


CHECKS = (Check("model", mark("answers"), reachable, seconds=90),)
