"""The cases of path_cases.jsonl, set up in a directory of their own."""

import base64
import json
import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Case = dict[str, Any]
AGENT = ".config/agent"
CASES: tuple[Case, ...] = tuple(
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "path_cases.jsonl").read_text().splitlines()
)


class Unsuitable(Exception):
    """This machine cannot show the case; the text says what it lacks."""


@dataclass(frozen=True)
class Place:
    """A workspace, a directory outside and a home, all below one temporary directory."""

    base: Path

    @property
    def workspace(self) -> Path:
        return self.base / "ws"

    @property
    def outside(self) -> Path:
        return self.base / "out"

    @property
    def home(self) -> Path:
        return self.base / "home"

    def fill(self, text: str) -> str:
        """The text with its placeholders replaced."""
        values = {
            "{WS}": str(self.workspace),
            "{WS_NAME}": self.workspace.name,
            "{OUT}": str(self.outside),
            "{OUT_NAME}": self.outside.name,
            "{HOME}": str(self.home),
            "{AGENT}": AGENT,
        }
        for name, value in values.items():
            text = text.replace(name, value)
        return text

    def at(self, text: str) -> Path:
        """A path of a case's setup."""
        return self.workspace / self.fill(text)


def set_up(case: Case, base: Path) -> Place:
    """The place with everything the case's setup asks for; raises Unsuitable."""
    place = Place(base.resolve())
    for directory in (place.workspace, place.outside, place.home):
        directory.mkdir(parents=True)
    for step in case["setup"]:
        for verb, argument in step.items():
            _step(place, verb, argument)
    return place


def races(case: Case) -> tuple[str, ...]:
    """What happens between the answer and the write, in words."""
    return tuple(step["race"] for step in case["setup"] if "race" in step)


def changed(case: Case, place: Place, before: dict[str, bytes]) -> list[str]:
    """Which of the things that must not change did."""
    return [name for name, content in before.items() if content != _content(place.at(name))]


def content_to_keep(case: Case, place: Place) -> dict[str, bytes]:
    """What must not change, as it is now."""
    return {name: _content(place.at(name)) for name in case.get("must_not_change", ())}


def _step(place: Place, verb: str, argument: Any) -> None:
    match verb:
        case "write":
            _write(place.at(argument[0]), place.fill(argument[1]).encode())
        case "b64":
            _write(place.at(argument[0]), base64.b64decode(argument[1]))
        case "repeat":
            _write(place.at(argument[0]), argument[1].encode() * argument[2])
        case "mkdir":
            place.at(argument).mkdir(parents=True, exist_ok=True)
        case "symlink":
            link = place.at(argument[0])
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(place.fill(argument[1]))
        case "hardlink":
            place.at(argument[0]).hardlink_to(place.at(argument[1]))
        case "chmod":
            place.at(argument[0]).chmod(int(argument[1], 8))
        case "fifo":
            os.mkfifo(place.at(argument))
        case "socket":
            _make_socket(place.at(argument))
        case "require":
            _require(place, argument)
        case "race" | "note":
            pass
        case _:
            raise ValueError(f"unknown step {verb}")


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _make_socket(path: Path) -> None:
    # Bound by a short relative name: the address of a socket holds about a hundred characters.
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


def _require(place: Place, what: str) -> None:
    if what == "case_insensitive_fs":
        (place.base / "Probe").touch()
        fits = (place.base / "probe").exists()
    else:
        fits = sys.platform.startswith(what)
    if not fits:
        raise Unsuitable(what)


def _content(path: Path) -> bytes:
    if path.is_dir():
        return "\n".join(sorted(entry.name for entry in path.iterdir())).encode()
    return path.read_bytes()
