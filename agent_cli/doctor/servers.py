"""The MCP servers that are configured: whether what they name is there."""

import json
import shutil
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from agent_cli.core.trust import SERVERS
from agent_cli.doctor._check import Check, Finding, Patient, ok, skipped
from agent_cli.runtime import folder_standing
from agent_cli.wishes import Wishes


def servers(patient: Patient) -> Finding:
    """Whether each program can be found and each address is one."""
    file = patient.cwd / SERVERS
    if not file.is_file():
        return skipped("none are configured")
    try:
        listed: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]
        wrong = [f"{name}: {told}" for name, server in listed.items() if (told := _wrong(server))]
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        return Finding(
            "problem", f"{file} cannot be read", 'JSON with "mcpServers"', str(error),
            remedy=f"Put {SERVERS} right.",
        )  # fmt: skip
    if wrong:
        return Finding(
            "problem", "; ".join(wrong), "programs on PATH, addresses with http or https",
            remedy=f"Install what is missing, or change {SERVERS}.",
        )  # fmt: skip
    if not folder_standing(Wishes(cwd=patient.cwd), patient.environment).trusted:
        return ok(f"{', '.join(listed)}: used once the folder is trusted")
    return ok(", ".join(listed))


def _wrong(server: Mapping[str, Any]) -> str:
    if "url" in server:
        address = urlsplit(str(server["url"]))
        return "" if address.scheme in ("http", "https") and address.netloc else "no web address"
    program = str(server.get("command", ""))
    return "" if shutil.which(program) else f"there is no program {program or '(none named)'}"


CHECKS = (Check("settings", "MCP servers", servers),)
