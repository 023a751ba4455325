"""Whatever the agent and the person do, and whatever is undone: nothing of the person's is lost."""

import itertools
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_cli.core.undo.checkpoint import UpcomingCall
from agent_cli.core.undo.undo_plan import paths_of, plan
from agent_cli.core.undo.undoing import last_undo, standing
from agent_cli.storage.checkpoint_store import CheckpointStore

FILES = ("a.txt", "b.txt", "d/c.txt")
FILE = st.sampled_from(FILES)
WHERE = st.integers(0, 30)
AGENT = st.tuples(
    st.sampled_from(["agent writes", "agent inserts", "agent cuts", "agent deletes", "agent moves"]),
    FILE, FILE, WHERE, st.booleans(),
)  # fmt: skip
PERSON = st.tuples(
    st.sampled_from(["person inserts", "person creates", "person deletes"]),
    FILE, FILE, WHERE, st.booleans(),
)  # fmt: skip
BACK = st.tuples(
    st.sampled_from(["undo call", "undo turn", "undo some", "redo"]),
    FILE,
    FILE,
    WHERE,
    st.booleans(),
)
STEPS = st.lists(st.one_of(AGENT, AGENT, PERSON, PERSON, BACK), min_size=3, max_size=14)


class World:
    """A directory in which the agent and the person take turns."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "project"
        (self.root / "d").mkdir(parents=True)
        for name in FILES:
            (self.root / name).write_text("".join(f"{name} {n}\n" for n in range(12)))
        self.store = CheckpointStore(
            directory / "kept", "s", roots=[str(self.root)], home="/nonexistent",
            environment={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"},
        )  # fmt: skip
        self.numbers = itertools.count(1)

    def do(self, what: str, one: str, other: str, where: int, flag: bool) -> None:
        kind, _, verb = what.partition(" ")
        if kind == "agent":
            name = f"call-{next(self.numbers)}"
            paths = (str(self.root / one), str(self.root / other)) if flag else None
            self.store.before(
                UpcomingCall(call_id=name, turn=where % 3, tool="T", title="", paths=paths)
            )
            self.change(verb, one, other, where, "agent")
            self.store.after(name)
        elif kind == "person":
            self.change(verb, one, other, where, "person")
        else:
            self.back(what, where)

    def change(self, verb: str, one: str, other: str, where: int, who: str) -> None:
        path, token = self.root / one, f"{who}-{next(self.numbers)}\n"
        path.parent.mkdir(exist_ok=True)
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        match verb:
            case "writes" if not any("person" in line for line in lines):
                path.write_text(token)
            case "inserts":
                lines.insert(min(where, len(lines)), token)
                path.write_text("".join(lines))
            case "creates" if not path.exists():
                path.write_text(token)
            case "cuts" if lines and "person" not in lines[where % len(lines)]:
                del lines[where % len(lines)]
                path.write_text("".join(lines))
            case "deletes":
                path.unlink(missing_ok=True)
            case "moves" if path.exists() and not (self.root / other).exists():
                (self.root / other).parent.mkdir(exist_ok=True)
                path.rename(self.root / other)
            case _:
                pass

    def back(self, what: str, where: int) -> None:
        records = self.store.records()
        calls = standing(records)
        undone = last_undo(records)
        if what == "redo":
            chosen = [undone] if undone else []
        elif what == "undo call":
            chosen = list(calls[-1:])
        elif what == "undo turn":
            chosen = [each for each in reversed(calls) if each.turn == calls[-1].turn]
        else:
            chosen = [calls[where % len(calls)]] if calls else []
        if not chosen:
            return
        before = self.tokens()
        kind = "redo" if what == "redo" else "undo"
        preview = plan(kind, chosen, self.store.now(paths_of(chosen)), self.store)
        restored = self.store.restore(preview.steps({}), kind=kind, of=chosen, turn=0)
        assert not restored.failed
        assert before <= self.tokens(), (what, preview)

    def tokens(self) -> set[str]:
        """Everything the person wrote that is still somewhere."""
        return {
            line
            for path in self.root.rglob("*.txt")
            for line in path.read_text().splitlines()
            if line.startswith("person-")
        }


@settings(
    max_examples=60, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip
@given(STEPS)
def test_nothing_of_the_persons_is_lost_without_a_question(
    steps: list[tuple[str, str, str, int, bool]],
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory))
        try:
            for step in steps:
                world.do(*step)
        finally:
            world.store.close()
