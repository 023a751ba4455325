"""Two programs in two terminals and one folder, fifty turns: each undoes its own and nothing else."""

import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import zip_longest

import pytest

from tests.e2e.test_inline import READY, answer, ask
from tests.e2e.test_undo_side_by_side import COMMANDS, OPAQUE
from tests.kit.model_server import Call, ModelServer, Reply, running_server
from tests.kit.oracle import Photo, differences, photograph
from tests.kit.places import furnish
from tests.kit.program import Program
from tests.kit.terminal import AGENT, Terminal

TURNS = 25
"""Of each program."""


class Agent:
    """One of the programs, with a model of its own, and what its directory was before each turn."""

    def __init__(self, who: str, server: ModelServer, program: Program) -> None:
        self.who, self.server, self.directory = who, server, program.workspace / who
        flags = ("--inline", "--trust", "--permission-mode", "yolo", "--model", "openai/gpt-4o")
        self.terminal = Terminal(
            [*AGENT, *flags, "--api-base", f"{server.url}/v1"],
            cwd=program.workspace,
            env=program.environment({"OPENAI_API_KEY": "not-a-key"}),
            size=(100, 24),
        )
        self.photos: list[Photo] = []

    def begin(self, turn: int, command: str) -> None:
        """Ask for a turn in which the model runs this."""
        self.photos.append(photograph(self.directory))
        self.server.add(Reply(calls=[Call("Bash", {"command": command})]), Reply(f"over {turn}."))
        ask(self.terminal, f"turn {turn}")

    def wait(self, turn: int) -> None:
        """Until the turn is over."""
        self.terminal.wait_for(f"over {turn}.")
        self.terminal.wait_gone("esc interrupts")

    def undo(self, wanted: Photo) -> None:
        """Say yes to an undo that was asked for, and wait until it is done."""
        told = self.terminal.raw.count(b"Undid")
        answer(self.terminal, "Yes, undo", "y")
        self.terminal.wait_until(lambda _: self.terminal.raw.count(b"Undid") > told)
        self.terminal.wait_until(lambda _: self._is(wanted))

    def _is(self, wanted: Photo) -> bool:
        try:
            return not differences(wanted, photograph(self.directory))
        except FileNotFoundError:  # it is being undone
            return False

    def changed(self) -> list[Photo]:
        """What its directory was before each turn that changed it, the last first."""
        after = [*self.photos[1:], photograph(self.directory)]
        pairs = zip(self.photos, after, strict=True)
        return [before for before, then in pairs if differences(before, then)][::-1]


@pytest.fixture
def agents(program: Program) -> Iterator[Sequence[Agent]]:
    furnish(program.workspace, "repository")
    with ExitStack() as stack:
        both = []
        for who in ("one", "two"):
            (program.workspace / who).mkdir()
            both.append(Agent(who, stack.enter_context(running_server()), program))
            stack.enter_context(both[-1].terminal)
        for each in both:
            each.terminal.wait_for(READY)
        yield both


@pytest.mark.timeout(300)
def test_fifty_turns_of_two_programs_are_undone_each_by_its_own(
    program: Program, agents: Sequence[Agent]
) -> None:
    root, draw = program.workspace, random.Random(3)
    before = photograph(root)
    for number in range(TURNS):
        commands = [
            draw.choice(COMMANDS).format(who=each.who, n=number, m=draw.randrange(number + 1))
            for each in agents
        ]
        # Of two commands at the same time that tell nothing of what they change, nobody could tell
        # which changed what. One of them at a time is enough.
        at_once = sum(any(sign in each for sign in OPAQUE) for each in commands) < 2
        for each, command in zip(agents, commands, strict=True):
            each.begin(number, command)
            if not at_once:
                each.wait(number)
        for each in agents if at_once else ():
            each.wait(number)
    (root / "mine.txt").write_text("mine\n")
    wanted = [each.changed() for each in agents]
    assert min(map(len, wanted)) > TURNS // 2
    for photos in zip_longest(*wanted):
        busy = [(each, photo) for each, photo in zip(agents, photos, strict=True) if photo]
        for each, _ in busy:
            ask(each.terminal, "/undo")
        for each, photo in busy:
            each.undo(photo)
    left = photograph(root)
    assert left.pop("mine.txt")[0] == "file"
    assert differences(before, left) == {}
    for each in agents:
        ask(each.terminal, "/undo")
        each.terminal.wait_for("There is nothing to undo in this session.")
