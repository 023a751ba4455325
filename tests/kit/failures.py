"""The HTTP errors real providers send, ready to be added to a script.

The body is written by the wire that gets the request, in its provider's shape and words.
"""

from __future__ import annotations

from tests.kit.script import Failure

OVERFLOWS = {
    "openai": "This model's maximum context length is 128000 tokens. However, your messages"
    " resulted in 210000 tokens.",
    "openai-responses": "Your input exceeds the context window of this model. Please adjust your"
    " input and try again.",
    "anthropic": "prompt is too long: 210000 tokens > 200000 maximum",
    "anthropic-limit": "input length and `max_tokens` exceed context limit: 190000 + 20000 >"
    " 200000, decrease input length or `max_tokens` and try again",
    "gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed"
    " (1048576).",
    "llama.cpp": "the request exceeds the available context size. try increasing the context size"
    " or enable context shift",
}
"""How different servers say that the context is full."""

PROBLEMS = {
    400: "bad",
    401: "key",
    402: "credit",
    403: "forbidden",
    404: "model",
    429: "rate",
    500: "server",
    503: "unavailable",
    529: "overloaded",
}


def problem_of(failure: Failure) -> str:
    """The problem a failure names, or the usual one for its status."""
    return failure.problem or PROBLEMS.get(failure.status, "server")


def unauthorized() -> Failure:
    return Failure(401, "key")


def invalid_gemini_key() -> Failure:
    """Google answers 400, not 401, to a key it does not know."""
    return Failure(
        400,
        body={
            "error": {
                "code": 400,
                "message": "API key not valid. Please pass a valid API key.",
                "status": "INVALID_ARGUMENT",
                "details": [
                    {
                        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                        "reason": "API_KEY_INVALID",
                        "domain": "googleapis.com",
                    }
                ],
            }
        },
    )


def no_credit() -> Failure:
    return Failure(402, "credit")


def forbidden() -> Failure:
    return Failure(403, "forbidden")


def unknown_model() -> Failure:
    return Failure(404, "model")


def rate_limited(retry_after: str | None = "0") -> Failure:
    """429; `retry_after` in seconds or as an HTTP date."""
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return Failure(429, "rate", headers=headers)


def quota_exhausted() -> Failure:
    """429 that no waiting cures."""
    return Failure(429, "quota")


def server_error(body: str | None = "") -> Failure:
    return Failure(500, "server", body=body)


def unavailable() -> Failure:
    return Failure(503, "unavailable")


def overloaded() -> Failure:
    return Failure(529, "overloaded")


def context_overflow(wording: str | None = None) -> Failure:
    """400; the provider's own wording, or another of `OVERFLOWS`."""
    return Failure(400, "context", "" if wording is None else OVERFLOWS[wording])


def history_refused() -> Failure:
    """400: calls and results of the conversation do not match."""
    return Failure(400, "history")
