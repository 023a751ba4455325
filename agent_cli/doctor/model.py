"""The model: one small request, and how long it takes."""

import time

from agent_cli.config.places import Places
from agent_cli.core.errors import ModelError, UserError
from agent_cli.core.messages import UserMessage
from agent_cli.core.model import ModelRequest
from agent_cli.doctor._check import Check, Finding, Patient, ok, skipped
from agent_cli.doctor.settings import loaded_for
from agent_cli.models.providers import take_credentials
from agent_cli.models.worker_process import WorkerProcess
from agent_cli.runtime import chosen_model, model_source
from agent_cli.setup.keys import with_kept_keys

_SLOW = 20.0


async def reachable(patient: Patient) -> Finding:
    """Whether it answers."""
    if patient.offline:
        return skipped("--offline")
    try:
        settings = loaded_for(patient).settings
        name = chosen_model(settings)
        given = take_credentials(dict(patient.environment))
        credentials = with_kept_keys(given, Places.of(patient.environment).config)
        source = model_source(settings, credentials, WorkerProcess())
    except UserError as error:
        return Finding("problem", error.message, "a model that answers", remedy=error.hint)
    try:
        await source.warm(name)  # loading LiteLLM is not the model's time
        model, began = source.get(name), time.monotonic()
        request = ModelRequest(system="", messages=(UserMessage(content="Reply with: ok"),))
        async for _ in model.stream(request):
            pass
        return _told(name, time.monotonic() - began)
    except (ModelError, UserError) as error:
        return Finding("problem", f"{name}: {error.message}", "an answer", remedy=error.hint)
    finally:
        await source.close()


def _told(name: str, seconds: float) -> Finding:
    measured = f"{name} answered after {seconds:.1f} s"
    if seconds < _SLOW:
        return ok(measured)
    return Finding(
        "warning", measured, f"less than {_SLOW:.0f} s",
        cause="the network, the provider or a local model is slow",
        remedy="Try again later, or choose a faster model.",
    )  # fmt: skip


CHECKS = (Check("model", "answers", reachable, seconds=90),)
