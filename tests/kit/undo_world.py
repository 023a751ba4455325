"""A workspace in which an agent, a second one and the user take turns, and what must always hold."""

from __future__ import annotations

import atexit
import functools
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_cli.core.errors import UserError
from agent_cli.core.model import ModelEvent, ModelRequest
from agent_cli.core.undo.undo_plan import Preview
from agent_cli.models.scripted import ScriptedStep
from tests.kit.oracle import Photo, differences, photograph
from tests.kit.places import furnish, git
from tests.kit.sessions import Scene, SceneMaker

FILES = (
    "notes.txt", "run.sh", "src/one.py", "src/two.py", "src/deep/er/three.py", ".env", "debug.log",
    "build/out.o", "data/raw.csv", "node_modules/left/index.js", "link", "crlf.txt", "binary.dat",
    "lib/a.py", "secret/key", "with\\ space",
)  # fmt: skip
DIRECTORIES = (
    "src", "lib", "build", "data", "node_modules", "secret", "empty", "src/deep", "nested",
)  # fmt: skip
PLAIN_DIRECTORIES = DIRECTORIES[:-1]
"""Without a repository: what a program does to one without naming it is not covered."""
NEW = ("new1", "new2", "lib/new", "ünï", "$'new\\nline'", "$'\\xff\\xfe'", "data/new", "made/deep")
COMMANDS = (
    # nothing, or nothing after all
    "chmod +x {f}", "chmod -R u+rw .", "chmod 755 {d}", "chown -R $(id -u):$(id -g) {d}",
    "test -d nope && rm -rf {d}", "yes n | rm -ri {d}", "mv {d} nowhere/deeper", "mv -n {f} {g}",
    "mv {d} s2; mv s2 {d}", "cp -a {d} copy; rm -rf {d}; mv copy {d}",
    "if [ -e /nowhere ]; then rm -rf {d}; fi", "false && shred -u {f}", "echo n | rm -i {f}",
    "cd {d} && false && rm -rf ../src", "cp -a {f} t; rm -f {f}; mv t {f}",
    # git
    "git checkout -qf old", "git checkout -qf -", "git clean -qfdx", "git clean -qfd",
    "git stash -qu", "git stash pop -q", "git reset -q --hard", "git reset -q --hard HEAD~1",
    "git add -A && git commit -qm x", "git rm -qrf {d}", "git mv {f} {n}", "rm -rf .git",
    "git init -q", "git init -q {n} && echo 1 > {n}/f", "git worktree add -qf {n}",
    "git worktree remove --force {n}", "git checkout -q -- .", "rm -rf nested/.git",
    # what is ignored
    "rm -f .gitignore", "sed -i /env/d .gitignore", "echo '*.txt' >> .gitignore",
    # modes and times
    "chmod 600 {f}", "chmod -R 777 .", "chmod 500 {d}", "chmod -R go-rwx {d}", "touch {f}",
    "touch -d 2001-01-01 {f}", "chmod 711 .",
    # going
    "rm -f {f}", "rm -rf {d}", "rm -rf {d}/*", "unlink {f}", "find {d} -type f -delete",
    "rmdir --ignore-fail-on-non-empty {d}", "shred -u {f}", "rm -rf {d} {f} {n}", "rm -rf ./*",
    "rm -rf {d} && mkdir {d}", "rm -rf {f} && mkdir -p {f}", "cd {d} && rm -rf ./*",
    # moving and copying
    "mv {f} {n}", "mv {d} {n}", "cp -r {d} {n}", "cp {f} {g}", "mv {f} {g}",
    "mv {f} .t; mv {g} {f}; mv .t {g}", "install -D {f} {n}/x", "mkdir -p {n}; mv {f} {n}",
    "tar cf ../s.tar {d}; rm -rf {d}; tar xf ../s.tar", "tar cf ../t.tar {d}; tar xf ../t.tar",
    "command -v rsync && rsync -a --delete lib/ {d}/ || cp -a lib/. {d}",
    # writing
    "echo x >> {f}", "echo x > {n}", "printf '\\0\\1\\2' > {f}", "truncate -s 3 {f}",
    "truncate -s 200M {n}", "sed -i s/e/E/ {f}", "sed -i 1d {f} {g}", "perl -pi -e s/o/0/ {f}",
    "python3 -c \"import sys; open(sys.argv[1], 'a').write('y')\" {f}",
    "python3 -c \"import os,sys; os.path.isfile(sys.argv[1]) and os.remove(sys.argv[1])\" {f}",
    "python3 -c \"import shutil,sys; shutil.rmtree(sys.argv[1], True)\" {p}",
    "dd if=/dev/zero of={f} bs=10 count=1 status=none", "cat {f} {g} > {n}", "sort -o {f} {f}",
    "tee {n} < {f}", "split -b 5 {f} part.", "gzip -k {f}", "find . -name '*.py' -exec sed -i 1d {{}} +",
    "for i in 1 2 3; do echo $i > {n}$i; done", "mkdir -p {n}/a/b; echo 1 > {n}/a/b/c",
    "seq 400 > {f}", "python3 -m compileall -q {d}",
    # links and pipes
    "ln -s {f} {n}", "ln {f} {n}", "ln -s ../src {n}", "rm -rf {f}; ln -s {d} {f}", "mkfifo {n}",
    "rm -rf {d}; ln -s lib {d}", "ln -sf notes.txt link", "echo through > link", "ln {f} {n}; echo x >> {n}",
)  # fmt: skip
YOLO = {"mode": "yolo"}


@functools.cache
def _template(kind: str) -> Path:
    """A directory from which others are copied: git takes far longer to make one."""
    root = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    furnish(root, kind)
    for name, text in {
        "node_modules/left/index.js": "left\n", "data/raw.csv": "1,2\n", "lib/a.py": "a\n",
        "notes.txt": "uncommitted\nnotes\n", "secret/key": "k\n", "with space": "s\n",
        "nested/inner.txt": "in\n",
        ".gitignore": "*.log\nbuild/\n.env\nnode_modules/\ndata/\n",
    }.items():  # fmt: skip
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "secret").chmod(0o700)
    git(root / "nested", "init", "-q")
    if kind == "repository":
        git(root, "branch", "old")
        git(root, "add", ".gitignore")
        git(root, "commit", "-qm", "ignore more")
    return root


@dataclass
class _Event:
    """Something that changed the directory: a call of ours, or what somebody else did."""

    before: Photo
    after: Photo
    turn: int | None = None
    """Ours; None: somebody else's."""


@dataclass
class World:
    """Two sessions in one directory and a picture of it before every step."""

    maker: SceneMaker
    kind: str
    scene: Scene = field(init=False)
    events: list[_Event] = field(default_factory=list)
    undone: list[tuple[Photo, list[_Event]]] = field(default_factory=list)
    """What a redo must bring: the picture before the undo, and the events until then."""
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    has_edits: bool = False
    """Whether the user has written anything."""

    def __post_init__(self) -> None:
        subprocess.run(["cp", "-a", f"{_template(self.kind)}/.", str(self.root)], check=True)
        if self.kind == "repository":  # git trusts what it has looked at here
            git(self.root, "update-index", "-q", "--refresh")
        self.scene = self.maker(settings=YOLO)

    @functools.cached_property
    def other(self) -> Scene:
        """The second session."""
        return self.maker(settings=YOLO)

    @property
    def root(self) -> Path:
        return self.maker.workspace

    def photo(self) -> Photo:
        return photograph(self.root)

    # ── steps ────────────────────────────────────────────────────────────────────────────────────

    async def play(self, calls: Sequence[dict[str, Any]]) -> None:
        """One turn of ours, a picture taken before each of its calls and after the last."""
        photos = await _turn(self.scene, calls, self.photo)
        for before, after in itertools.pairwise(photos):
            if differences(before, after):
                self.events.append(_Event(before, after, self.scene.session.undoing.turn()))
                self.undone.clear()

    async def beside(self, call: dict[str, Any]) -> None:
        """A call of the other session."""
        before = self.photo()
        await _turn(self.other, [call], dict)
        self._foreign(before)

    async def other_undoes(self) -> None:
        """The other session undoes its last call."""
        before, tokens = self.photo(), self.tokens()
        try:
            await _apply(self.other, await self.other.session.undoing.preview("call"))
        except UserError:
            return
        assert tokens <= self.tokens()
        self._foreign(before)

    def user_edits(self, name: str) -> None:
        """The user writes a line of their own into a file."""
        path = self.root / name.replace("\\", "")
        before = self.photo()
        if path.is_symlink() or path.is_dir() or not path.parent.is_dir():
            return
        self.has_edits = True
        old = path.read_bytes() if path.exists() else b""
        path.write_bytes(old + b"user-%d\n" % next(self.numbers))
        self._foreign(before)

    def _foreign(self, before: Photo) -> None:
        after = self.photo()
        if differences(before, after):
            self.events.append(_Event(before, after))
            self.undone.clear()

    async def undo(self, scope: str) -> None:
        """Undo the last call, the last turn, or to a point, and compare."""
        ours = [each for each in self.events if each.turn is not None]
        undoing = self.scene.session.undoing
        if not ours:
            try:
                preview = await undoing.preview("call")
            except UserError:
                return
            raise AssertionError(f"nothing of ours changed anything, and undo offers {preview}")
        if scope == "point":
            turn = ours[max(0, len(ours) - 3)].turn or 0
            taken = [each for each in ours if (each.turn or 0) >= turn]
            preview = await undoing.preview_since(turn)
        elif scope == "turn":
            taken = [each for each in ours if each.turn == ours[-1].turn]
            preview = await undoing.preview("turn")
        else:
            taken = ours[-1:]
            preview = await undoing.preview("call")
        before, tokens = self.photo(), self.tokens()
        await _apply(self.scene, preview)
        assert tokens <= self.tokens(), "something the user wrote is gone"
        self._compare(taken[0].before, taken[0], preview)
        self.undone.append((before, self.events))
        self.events = [each for each in self.events if not any(each is one for one in taken)]

    async def redo(self) -> None:
        """Bring back what was undone last, and compare."""
        if not self.undone:
            return
        photo, events = self.undone.pop()
        preview = await self.scene.session.undoing.preview_redo()
        await _apply(self.scene, preview)
        found = differences(photo, self.photo())
        assert not found, ("redo", found, _told(preview))
        self.events = events

    def _compare(self, wanted: Photo, first: _Event, preview: Preview) -> None:
        """All is as it was before the first call that was undone, but for what others changed."""
        at = next(n for n, each in enumerate(self.events) if each is first)
        foreign = {
            name
            for each in self.events[at:]
            if each.turn is None
            for name in differences(each.before, each.after)
        }
        # What others changed inside a repository is not in the pictures, but it is asked about.
        foreign |= {
            os.path.relpath(each.path, self.scene.workspace)
            for each in preview.files
            if each.outcome == "conflict" and each.now.kind == "repository"
        }
        found = {
            name: each
            for name, each in differences(wanted, self.photo()).items()
            if not any(_is_near(name, other) for other in foreign)
        }
        assert not found, ("undo", found, _told(preview))
        if not foreign:
            assert {each.outcome for each in preview.files} <= {"restored"}, _told(preview)

    def tokens(self) -> set[bytes]:
        """Everything the user wrote that is still somewhere."""
        found = set[bytes]()
        if not self.has_edits:
            return found
        for path in self.root.rglob("*"):
            if path.is_file() and not path.is_symlink() and path.stat().st_size < 100_000:
                found |= {each for each in path.read_bytes().split() if each.startswith(b"user-")}
        return found


def _is_near(name: str, other: str) -> bool:
    """Whether one is the other, or is in it."""
    return name == other or name.startswith(f"{other}/") or other.startswith(f"{name}/")


def _told(preview: Preview) -> list[tuple[str, ...]]:
    return [(each.path, each.outcome, each.why) for each in preview.files]


async def _turn(
    scene: Scene, calls: Sequence[dict[str, Any]], photo: Callable[[], Photo]
) -> list[Photo]:
    """Play a turn with these calls, one a request; a picture is taken at each request."""
    photos: list[Photo] = []
    model = scene.model
    steps = [*({"calls": [call]} for call in calls), {"text": "done"}]
    model._steps[:] = [
        *model._steps[: len(model.requests)],
        *map(ScriptedStep.model_validate, steps),
    ]
    original = model.stream

    def stream(request: ModelRequest) -> AsyncIterator[ModelEvent]:
        photos.append(photo())
        return original(request)

    vars(model)["stream"] = stream
    try:
        await scene.play()
    finally:
        del vars(model)["stream"]
    return photos


async def _apply(scene: Scene, preview: Preview) -> None:
    restored = await scene.session.undoing.apply(preview)
    assert not restored.failed, restored.failed
