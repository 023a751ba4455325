"""The plugin for databases: SqlQuery."""

from agent_cli import __version__
from agent_cli.extensions.plugin import Plugin, PluginContext
from agent_cli.extensions.sql.query import Databases, SqlSetup, query_tool
from agent_cli.lib.language import tr


def plugin() -> Plugin:
    """A plugin that learns of its databases when it is loaded."""
    databases = Databases(SqlSetup())

    async def initialize(context: PluginContext) -> None:
        databases.setup = SqlSetup.model_validate(context.settings)

    return Plugin(
        name="sql",
        version=__version__,
        description=tr("Queries databases; reading needs no approval."),
        tools=(query_tool(databases),),
        initialize=initialize,
    )
