"""The configured MCP servers: whether their programs exist."""

import shutil
from typing import Any

from agent_cli.core.deciding.trust_items import SERVERS
from agent_cli.core.errors import UserError
from agent_cli.doctor._check import Check, CheckContext, Finding, ok, skip
from agent_cli.doctor.settings_checks import loaded_for
from agent_cli.extensions.mcp.spec import read_json, read_servers
from agent_cli.folder import folder_standing
from agent_cli.launch_options import LaunchOptions
from agent_cli.lib.language import mark, tr


def servers(patient: CheckContext) -> Finding:
    """Whether each is configured well and each program can be found; none is started."""
    file = patient.cwd / SERVERS
    trusted = folder_standing(LaunchOptions(cwd=patient.cwd), patient.environment).trusted
    try:
        listed = read_json(file)
    except ValueError as error:
        return Finding(
            "problem",
            str(error),
            tr('JSON with "mcpServers"'),
            remedy=tr("Fix {file}.", file=SERVERS),
        )
    found = read_servers({str(patient.places.config_file): _own(patient), str(file): listed})
    missing = [
        tr("{server}: {program} not found", server=server.name, program=server.table.command)
        for server in found.servers
        if server.table.command and not shutil.which(server.table.command)
    ]
    if wrong := (*found.problems, *missing):
        return Finding(
            "problem", "; ".join(wrong), tr("servers that can be started or reached"),
            remedy=tr("Install what is missing, or reconfigure it with agent mcp."),
        )  # fmt: skip
    if not found.servers:
        return skip(tr("none configured"))
    names = ", ".join(server.name for server in found.servers)
    if trusted:
        return ok(names)
    return ok(tr("{names}; this folder's servers wait until you trust it", names=names))


def _own(patient: CheckContext) -> dict[str, dict[str, Any]]:
    """The servers in the user's configuration."""
    try:
        return loaded_for(patient).settings.mcp.servers
    except UserError:
        return {}  # another check reports it


CHECKS = (Check("settings", mark("MCP servers"), servers),)
