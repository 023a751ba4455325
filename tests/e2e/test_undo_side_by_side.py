"""Two sessions in one folder: each undoes its own work and nothing else."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.oracle import differences, photograph
from tests.kit.places import furnish
from tests.kit.program import ROOT

TURNS = 20
COMMANDS = (
    "echo {n} > {who}/{n}.txt",
    "mkdir -p {who}/d{n}; echo {n} > {who}/d{n}/x",
    "python3 -c \"open('{who}/p{n}','w').write('x'*{n})\"",
    "rm -f {who}/*{m}.txt",
    "echo more >> {who}/{m}.txt",
    "mv {who}/{m}.txt {who}/moved{n}",
    "for i in 1 2 3; do echo $i > {who}/l$i-{n}; done",
    "chmod -R go-w {who}; sleep 0.05; echo {n} > {who}/slow",
    "git add {who} && git commit -qm {n}; echo {n} > {who}/after{n}",
    "false && rm -rf src",
)
OPAQUE = ("$", "python3", "git", "*")


class Session:
    """One of the programs."""

    def __init__(self, directory: Path, who: str) -> None:
        self.who = who
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.kit.undo_process", str(directory)],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def ask(self, **asked: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        heard: dict[str, Any] = json.loads(self.process.stdout.readline())
        return heard


def assert_own(session: Session) -> None:
    """The receipt speaks of the session's own files only."""
    for name in session.hear()["files"]:
        assert name.startswith(f"{session.who}/") or name == "mine.txt", name


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Session, Session]]:
    for name in ("home", "project/one", "project/two"):
        (tmp_path / name).mkdir(parents=True)
    furnish(tmp_path / "project", "repository")
    both = Session(tmp_path, "one"), Session(tmp_path, "two")
    yield both
    for each in both:
        assert each.process.stdin is not None
        each.process.stdin.close()
        each.process.wait(60)


def test_turns_side_by_side_are_undone_each_by_its_own(
    tmp_path: Path, pair: tuple[Session, Session]
) -> None:
    root, draw = tmp_path / "project", random.Random(1)
    before = photograph(root)
    mine = root / "mine.txt"
    for number in range(TURNS // 2):
        commands = [
            draw.choice(COMMANDS).format(who=each.who, n=number, m=draw.randrange(number + 1))
            for each in pair
        ]
        # Of two commands at the same time that tell nothing of what they change, nobody could tell
        # which changed what; such are shown and kept. One of them at a time is enough.
        at_once = sum(any(sign in each for sign in OPAQUE) for each in commands) < 2
        for each, command in zip(pair, commands, strict=True):
            each.ask(calls=[{"name": "Bash", "arguments": {"command": command}}])
            if not at_once:
                assert_own(each)
        mine.write_text(f"{number}\n")  # and the user works too
        for each in pair if at_once else ():
            assert_own(each)
    mine.write_text("mine\n")
    other = {name: each for name, each in photograph(root).items() if not name.startswith("one")}
    for each in pair:
        for _ in range(TURNS):
            each.ask(undo="turn")
            heard = each.hear()
            if "nothing" in heard:
                break
            assert not heard["failed"]
        if each.who == "one":
            left = {n: e for n, e in photograph(root).items() if not n.startswith("one")}
            assert differences(other, left) == {}
    left = photograph(root)
    assert left.pop("mine.txt")[0] == "file"
    assert mine.read_text() == "mine\n"
    assert differences(before, left) == {}
