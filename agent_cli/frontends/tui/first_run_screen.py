"""The model of a session when nobody has named one, asked for on the screen."""

import asyncio
from typing import TYPE_CHECKING

from agent_cli.config.user_directories import Directories
from agent_cli.folder import load_settings
from agent_cli.frontends.shared.first_run_text import clear_choice, naming
from agent_cli.launch_options import LaunchOptions
from agent_cli.runtime import whole_environment
from agent_cli.setup.model_choice import ModelChoice

if TYPE_CHECKING:
    from agent_cli.frontends.tui.app import AgentApp


async def with_a_model(app: "AgentApp", launch_options: LaunchOptions) -> tuple[LaunchOptions, str]:
    """Wishes that name a model, and what to tell the user about it; raises UserError."""
    environment = whole_environment()
    loaded = await asyncio.to_thread(load_settings, launch_options, environment)
    if loaded.settings.model:
        return launch_options, ""
    choice, note = await clear_choice(environment)
    return naming(launch_options, choice or await _ask(app, environment)), note


async def _ask(app: "AgentApp", environment: dict[str, str]) -> ModelChoice | None:
    from agent_cli.frontends.tui.setting_up import SetupScreen  # noqa: PLC0415 (rarely needed)
    from agent_cli.setup.setup_service import SetupService  # noqa: PLC0415

    desk = SetupService(Directories.of(environment), environment)
    try:
        return await app.show_screen(SetupScreen(desk))
    finally:
        await desk.close()
