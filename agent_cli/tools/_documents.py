"""Documents as text: PDF, Word, Excel, notebooks, each read in a process with limits."""

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
from pathlib import PurePath

from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.tools import _document_reader
from agent_cli.tools._document_reader import TOO_MUCH
from agent_cli.tools._files import check_cancelled

MAX_BYTES = 50_000_000
"""Bytes of a document that is opened."""
MAX_MEMORY_BYTES = 1_000_000_000
"""Bytes of memory that reading one may take."""
MAX_CPU_S = 20
"""Seconds of work."""
TIMEOUT_S = 40.0
"""For reading one; a busy machine gives the reader less than a second of its time per second."""
_LOOK_EVERY_S = 0.1
_BY_SUFFIX = {".pdf": "PDF", ".docx": "Word", ".xlsx": "Excel", ".xlsm": "Excel"}


def document_kind(path: str, head: bytes) -> str | None:
    """ "PDF", "Word", "Excel" or "notebook", if the file is one."""
    suffix = PurePath(path).suffix.lower()
    if head.startswith(b"%PDF-"):
        return "PDF"
    if suffix == ".ipynb" and head.lstrip()[:1] == b"{":
        return "notebook"
    kind = _BY_SUFFIX.get(suffix)
    return kind if kind != "PDF" and head.startswith(b"PK\x03\x04") else None


def document_text(kind: str, data: bytes, pages: str, cancelled: threading.Event) -> str:
    """The document's text; raises a failure that says what to do."""
    limits = (str(MAX_MEMORY_BYTES), str(MAX_CPU_S))
    with tempfile.TemporaryFile() as given:
        given.write(data)
        given.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", _document_reader.__name__, kind, pages, *limits],
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PYTHONPATH": _own_directory(), "LC_ALL": "C.UTF-8"},
            start_new_session=True,
        )
    try:
        answer = json.loads(_answer(process, cancelled) or "{}")
    finally:
        process.kill()
        process.communicate()
    if "text" in answer:
        return str(answer["text"])
    if "failure" in answer:
        kind_of_failure = FailureType(answer.get("type", FailureType.EXECUTION))
        raise ToolFailure(answer["failure"], type=kind_of_failure)
    raise ToolFailure(TOO_MUCH.format(what=f"{MAX_CPU_S} s of work"))


def _answer(process: "subprocess.Popen[bytes]", cancelled: threading.Event) -> bytes:
    """What the reader says within its time."""
    for _ in range(int(TIMEOUT_S / _LOOK_EVERY_S)):
        check_cancelled(cancelled)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=_LOOK_EVERY_S)[0]
    raise ToolFailure(TOO_MUCH.format(what=f"{TIMEOUT_S:g} s"), type=FailureType.TIMEOUT)


def _own_directory() -> str:
    """Where this very program lies, so that the reader is a part of it."""
    return str(PurePath(__file__).parents[2])
