"""Screens as text files: what stands where, and in which style, read from Textual's own picture."""

import os
import re
from html import unescape
from pathlib import Path

PLACE = Path(__file__).parents[1] / "screens" / "snapshots"

_STYLE = re.compile(r"\.terminal-\d+-(r\d+) \{ ([^}]*) \}")
_TEXT = re.compile(
    r'<text class="terminal-\d+-(r\d+)" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>'
)
_GROUND = re.compile(r'<rect fill="(#\w+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"')
_CELL = 12.2
_LINE = 24.4


def stable(svg: str, rows: list[str]) -> str:
    """The screen's rows, then the style of each run of text and the grounds behind them."""
    styles = {name: rule.strip(" ;") for name, rule in _STYLE.findall(svg)}
    runs: dict[int, list[tuple[int, str]]] = {}
    for name, x, y, text in _TEXT.findall(svg):
        shown = unescape(text).replace("\xa0", " ").strip()
        if shown:
            style = styles.get(name, "").replace("fill: ", "").replace("font-", "")
            runs.setdefault(int(float(y) // _LINE), []).append((_column(x), f"{style} | {shown}"))
    for colour, x, y, width in _GROUND.findall(svg):
        shown = f"on {colour} for {_column(width)}"
        runs.setdefault(int(float(y) // _LINE), []).append((_column(x), shown))
    told = [
        f"{row + 1}:{column} {run}"
        for row, found in sorted(runs.items())
        for column, run in sorted(found)
    ]
    return "\n".join([*(row.rstrip() for row in rows), "─" * 20, *told, ""])


def check(name: str, svg: str, rows: list[str]) -> None:
    """Compare with the file of this name; UPDATE_SNAPSHOTS=1 writes it, SNAPSHOT_SVG=DIR a picture."""
    if directory := os.environ.get("SNAPSHOT_SVG"):
        picture = Path(directory) / f"{name}.svg"
        picture.parent.mkdir(parents=True, exist_ok=True)
        picture.write_text(svg, encoding="utf-8")
    path = PLACE / f"{name}.txt"
    found = stable(svg, rows)
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert path.exists(), f"{path} is missing; UPDATE_SNAPSHOTS=1 writes it"
    assert found == path.read_text(encoding="utf-8"), f"{path}: UPDATE_SNAPSHOTS=1 if it is meant"


def _column(value: str) -> int:
    return round(float(value) / _CELL)
