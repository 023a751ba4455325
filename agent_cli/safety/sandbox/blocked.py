"""Tells from a command's end whether the sandbox stood in its way."""

import re

_ASKED_FOR_LAST = 20_000

# The words of the C library, of Node and of Python for the same few refusals.
_SIGNS = {
    "sandbox_write": r"read-only file ?system|\bEROFS\b|\[Errno 30\]",
    "sandbox_network": r"network is unreachable|\bENETUNREACH\b"
    r"|temporary failure in name resolution|could not resolve (?:host|proxy)"
    r"|name or service not known|no address associated with hostname"
    r"|\bEAI_AGAIN\b|\bENOTFOUND\b|unable to resolve host|failed to lookup address"
    r"|cannot assign requested address|no such host",
    "sandbox_maybe": r"permission denied|operation not permitted|\bEACCES\b|\bEPERM\b|\[Errno 13\]",
    "sandbox_protects": r"device or resource busy|\bEBUSY\b|invalid cross-device link",
}


def was_blocked(exit_code: int | None, output: str) -> str | None:
    """Why a confined command may have failed because of the sandbox (a reason's code), or None.

    A guess from what it printed: good for an offer to run it outside, not for a decision.
    """
    if not exit_code:
        return None
    end = output[-_ASKED_FOR_LAST:]
    return next((why for why, sign in _SIGNS.items() if re.search(sign, end, re.IGNORECASE)), None)
