"""What the audit log is told about a call: exact, bounded and without secrets."""

import hashlib
import json
import shlex
from collections.abc import Callable, Iterable
from typing import Any

from agent_cli.core.deciding.gatekeeper import PermissionCheck
from agent_cli.core.display import TerminalBlock
from agent_cli.core.log.store import CallRecord
from agent_cli.core.tool import Invocation, ToolResult

MAX_CHARS = 4_000
MAX_ITEMS = 100


def approved_hash(invocation: Invocation[Any]) -> str:
    """The SHA-256 of exactly what was decided on; the same call always has the same."""
    approved = {
        "tool": invocation.tool.name,
        "arguments": invocation.params.model_dump(mode="json"),
        "targets": [target.value for target in invocation.targets],
    }
    canonical = json.dumps(approved, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def call_record(
    record: CallRecord,
    invocation: Invocation[Any] | None,
    check: PermissionCheck | None,
    result: ToolResult,
    redact: Callable[[str], str],
) -> CallRecord:
    """The record with what the call touched and why it was decided as it was."""
    known: dict[str, Any] = {
        "success": result.success,
        "error": result.error.type if result.error else None,
        "exit_code": _exit_code(result),
    }
    if invocation is not None:
        known["version"] = invocation.tool.version
        known["targets"] = _texts((t.value for t in invocation.targets), redact)
        known["sha256"] = approved_hash(invocation)
    if check is not None and check.facts is not None and check.decision is not None:
        facts, decision = check.facts, check.decision
        known["decision"] = decision.effect.value
        known["reasons"] = _texts(map(str, decision.reasons), redact)
        known["codes"] = tuple(dict.fromkeys(reason.code for reason in decision.reasons))
        known["rule"] = redact(decision.rule) if decision.rule else None
        known["commands"] = _texts((shlex.join(each.argv) for each in facts.commands), redact)
        for access in ("read", "write"):
            paths = (path.real for path in facts.paths if path.access == access)
            known[f"{access}s"] = _texts(paths, redact)
        found = (*facts.catastrophic, *facts.dangers, *facts.sensitive)
        known["facts"] = _texts(map(str, found), redact)
    return record.model_copy(update=known)


def _texts(texts: Iterable[str], redact: Callable[[str], str]) -> tuple[str, ...]:
    """Redacted before they are cut: half a secret is not recognised as one."""
    kept = [redact(text) for text in dict.fromkeys(texts)]
    cut = [text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}…" for text in kept[:MAX_ITEMS]]
    return (*cut, f"… {len(kept) - MAX_ITEMS} more") if len(kept) > MAX_ITEMS else tuple(cut)


def _exit_code(result: ToolResult) -> int | None:
    for block in result.display:
        if isinstance(block, TerminalBlock) and block.exit_code is not None:
            return block.exit_code
    code = result.metadata.get("exit_code")
    return code if isinstance(code, int) else None
