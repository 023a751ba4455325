"""Text that others wrote, in every place a model or a folder can put it."""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.kit.program import Program

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "terminal_cases.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
TEXTS = [case["output"] for case in CASES]
HARMLESS = [f"harmless text number {number}" for number in range(len(TEXTS))]

SEQUENCE = re.compile(
    r"\x1b(?:\[(?P<csi>[<-?]?[\d;:]*[ -/]*[@-~])|\](?P<osc>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    r"|(?P<string>[PX^_][^\x1b]*)\x1b\\|(?P<other>[ -/]*[0-~]))"
)


def hostile_folder(program: Program, texts: Sequence[str]) -> None:
    """A project whose branch, files and names are hostile."""
    (program.workspace / ".git").mkdir()
    branch = "".join(text for text in texts if "\n" not in text)[:400]
    _write(program.workspace / ".git" / "HEAD", f"ref: refs/heads/{branch}\n")
    _write(program.workspace / "cases.txt", "\n".join(texts))
    for text in texts:
        name = _bytes(text).replace(b"/", b"_").replace(b"\0", b"")[:120]
        (program.workspace / "names").mkdir(exist_ok=True)
        Path(str(program.workspace / "names"), name.decode("utf-8", "surrogateescape")).touch()


def hostile_steps(texts: Sequence[str]) -> list[Mapping[str, Any]]:
    """What the model says and does, turn by turn."""
    together = "\n\n".join(texts)
    valid = [_bytes(text).decode() for text in texts]
    shown = "\n".join(valid)
    reads = [_call("Read", file_path=text) for text in valid]
    question = {"text": f"Which one? {valid[0]}", "options": [{"label": t} for t in valid[:4]]}
    return [
        {"text": f"{together}\n\nMODEL END", "thinking": together, "pieces": 60},
        {"calls": [_call("Bash", command="cat cases.txt", description=valid[5])]},
        {"text": "OUTPUT END"},
        {
            "calls": [
                *reads[:20],
                _call("Glob", pattern="names/*"),
                _call("Bash", command="ls names"),
            ]
        },
        {"calls": [*reads[20:], _call("Grep", pattern="e", path="cases.txt")]},
        {"text": "NAMES END"},
        {"calls": [{"name": text, "arguments": {text: text}} for text in valid[:10]]},
        {"text": "UNKNOWN END"},
        {"error": {"kind": "bad_request", "message": f"{together} ERROR END"}},
        {"calls": [_call("Bash", command=f"cat > x <<'X'\n{shown}\nX", description=valid[5])]},
        {"calls": [_call("Write", file_path="w.txt", content=shown)]},
        {"calls": [_call("AskUser", questions=[question])]},
        {"text": f"{together}\n\nMODAL END"},
    ]


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def sequences(raw: str) -> set[str]:
    """The kinds of escape sequences in what was written: without positions and colours."""
    return {_kind(found) for found in SEQUENCE.finditer(raw)}


def _kind(found: re.Match[str]) -> str:
    if (csi := found["csi"]) is not None:
        if csi[-1] == "m" and csi[0] not in "<=>?":
            attributes = set(re.sub(r"[345]8;(?:2;\d+;\d+;\d+|5;\d+)", "", csi[:-1]).split(";"))
            return "hidden text" if "8" in attributes else "colour"
        return csi if csi[0] in "<=>?" else csi[-1]
    if (osc := found["osc"]) is not None:
        return f"OSC {osc.split(';')[0]}"
    return found[0][:2]


def controls(text: str) -> set[str]:
    """Control characters outside sequences, but for those that end lines and notifications."""
    return {c for c in text if unicodedata.category(c) == "Cc"} - {"\r", "\n", "\a"}


def is_telling(forbidden: str) -> bool:
    """Whether a forbidden text is more than controls, which are looked for by themselves."""
    return not set(forbidden) <= {"\x1b", "\r", "\n", "\a", "\b"} and "\n" not in forbidden


def _bytes(text: str) -> bytes:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _write(path: Path, text: str) -> None:
    path.write_bytes(_bytes(text))
