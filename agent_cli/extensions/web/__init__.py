"""The plugin for the web: WebFetch and HttpRequest."""

from agent_cli import __version__
from agent_cli.extensions.plugin import Plugin, PluginContext
from agent_cli.extensions.web.fetch import fetch_tool
from agent_cli.extensions.web.http_client import Client, WebLimits
from agent_cli.extensions.web.request import request_tool
from agent_cli.lib.language import tr


def plugin() -> Plugin:
    """A plugin with a client of its own, which learns its limits when it is loaded."""
    client = Client(WebLimits())

    async def initialize(context: PluginContext) -> None:
        client.limits = WebLimits.model_validate(context.settings)

    return Plugin(
        name="web",
        version=__version__,
        description=tr("Fetches web pages and calls HTTP APIs; you are asked about every host."),
        tools=(fetch_tool(client), request_tool(client)),
        initialize=initialize,
    )
