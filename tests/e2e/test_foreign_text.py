"""Text that others wrote, through every place of the screen: none of it acts on the terminal."""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.kit.program import Program
from tests.kit.terminal import AGENT, Terminal

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
UNFOCUSED = "\x1b[O"
A_MOMENTS_LOOK = 0.6


def test_no_text_of_others_reaches_the_terminal_as_a_sequence(tmp_path: Path) -> None:
    (tmp_path / "clean").mkdir()
    (tmp_path / "hostile").mkdir()
    expected = sequences("".join(tour(Program(tmp_path / "clean"), HARMLESS)))
    shown, pasted = tour(Program(tmp_path / "hostile"), TEXTS)
    assert sequences(shown + pasted) - expected == set()
    assert controls(SEQUENCE.sub("", shown + pasted)) == set()
    text = SEQUENCE.sub("", shown)
    for case in CASES:
        for forbidden in case["must_not_contain"]:
            if _is_telling(forbidden):
                assert forbidden not in text, case["id"]


def tour(program: Program, texts: Sequence[str]) -> tuple[str, str]:
    """Show the texts everywhere, then paste them into the prompt; what the terminal was sent."""
    _hostile_folder(program, texts)
    argv = [*AGENT, "--trust", "--model", program.script(*_steps(texts))]
    env = program.environment()
    with Terminal(argv, cwd=program.workspace, env=env, size=(100, 40)) as terminal:
        terminal.wait_for("Ask, or / for commands")
        for number, end in enumerate(("MODEL", "OUTPUT", "NAMES", "UNKNOWN", "ERROR")):
            _ask(terminal, f"turn {number}")
            terminal.wait_for(f"{end} END")
            terminal.wait_gone("esc interrupts")
            if end in ("OUTPUT", "UNKNOWN"):
                _read_all(terminal)
        terminal.send(UNFOCUSED)
        _ask(terminal, "turn with modals")
        for heading in ("Run this command?", "Make this change?", "Which one?"):
            _deny(terminal, heading)
        terminal.wait_for("MODAL END")
        terminal.wait_gone("esc interrupts")
        foreign = bytes(terminal.raw).decode()
        for text in texts:
            terminal.paste(text.replace("\x1b[201~", "")[:200])
        terminal.send("pasted")
        terminal.wait_for("pasted")
        assert terminal.process.poll() is None
        return foreign, bytes(terminal.raw[len(foreign.encode()) :]).decode()


def _hostile_folder(program: Program, texts: Sequence[str]) -> None:
    (program.workspace / ".git").mkdir()
    branch = "".join(text for text in texts if "\n" not in text)[:400]
    _write(program.workspace / ".git" / "HEAD", f"ref: refs/heads/{branch}\n")
    _write(program.workspace / "cases.txt", "\n".join(texts))
    for text in texts:
        name = _bytes(text).replace(b"/", b"_").replace(b"\0", b"")[:120]
        (program.workspace / "names").mkdir(exist_ok=True)
        Path(str(program.workspace / "names"), name.decode("utf-8", "surrogateescape")).touch()


def _steps(texts: Sequence[str]) -> list[Mapping[str, Any]]:
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


def _ask(terminal: Terminal, text: str) -> None:
    terminal.send(text)
    terminal.wait_for(f"▌ {text}")
    terminal.press("enter")


def _read_all(terminal: Terminal) -> None:
    """Unfold everything, look at all of it, and fold it again."""
    terminal.press("ctrl+o")
    for _ in range(4):
        terminal.press("pageup")
        terminal.let_pass(0.05)
    terminal.press("ctrl+o", *["pagedown"] * 8)


def _deny(terminal: Terminal, heading: str) -> None:
    terminal.wait_for(heading)
    terminal.let_pass(A_MOMENTS_LOOK)
    for _ in range(6):
        terminal.press("pagedown")
        terminal.let_pass(0.05)
    terminal.let_pass(A_MOMENTS_LOOK)
    terminal.press("escape")
    terminal.wait_gone(heading)


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


def _is_telling(forbidden: str) -> bool:
    return not set(forbidden) <= {"\x1b", "\r", "\n", "\a", "\b"} and "\n" not in forbidden


def _bytes(text: str) -> bytes:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _write(path: Path, text: str) -> None:
    path.write_bytes(_bytes(text))
