"""Random turns, undone in random ways, compared byte for byte with a picture of the directory.

`UNDO_EXAMPLES=3000` plays more of them.
"""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agent_cli.storage.checkpoint import workspace
from tests.kit.places import KINDS
from tests.kit.sessions import SceneMaker
from tests.kit.undo_world import COMMANDS, DIRECTORIES, FILES, NEW, PLAIN_DIRECTORIES, World

EXAMPLES = int(os.environ.get("UNDO_EXAMPLES", "150"))
FILE, DIRECTORY = st.sampled_from(FILES), st.sampled_from(DIRECTORIES)

Step = tuple[str, Any]


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def _bash(
    template: str, one: str, other: str, directory: str, plain: str, new: str
) -> dict[str, Any]:
    command = template.format(f=one, g=other, d=directory, p=plain, n=new)
    return _call("Bash", command=command)


def _tools(kind: str, name: str) -> list[dict[str, Any]]:
    path = name.replace("\\", "")
    match kind:
        case "write":
            return [_call("Write", file_path=f"made/{path}", content="made\nby the agent\n")]
        case "overwrite":
            read = _call("Read", file_path=path)
            return [read, _call("Write", file_path=path, content="overwritten\n")]
        case "edit":
            read = _call("Read", file_path=path)
            return [
                read,
                _call("Edit", file_path=path, old_string="e", new_string="E", replace_all=True),
            ]
        case _:
            return [_call("Replace", pattern="o", replacement="0", path=".", preview=False)]


SHELL = st.builds(_bash, st.sampled_from(COMMANDS), FILE, FILE, DIRECTORY,
                  st.sampled_from(PLAIN_DIRECTORIES), st.sampled_from(NEW))  # fmt: skip
TOOLS = st.builds(_tools, st.sampled_from(["write", "overwrite", "edit", "replace"]), FILE)
CALLS = st.lists(st.one_of(SHELL.map(lambda each: [each]), SHELL.map(lambda each: [each]), TOOLS),
                 min_size=1, max_size=3).map(lambda groups: [c for g in groups for c in g])  # fmt: skip
STEP: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("turn"), CALLS),
    st.tuples(st.just("turn"), CALLS),
    st.tuples(st.just("undo"), st.sampled_from(["call", "turn", "point"])),
    st.tuples(st.just("redo"), st.none()),
    st.tuples(st.just("user"), FILE),
    st.tuples(st.just("beside"), SHELL),
    st.tuples(st.just("other undoes"), st.none()),
)


async def _play(kind: str, steps: list[Step], directory: Path) -> None:
    maker = SceneMaker(directory)
    world = World(maker, kind)
    try:
        for what, given_ in [*steps, ("undo", "turn"), ("redo", None), ("undo", "point")]:
            match what:
                case "turn":
                    await world.play(given_)
                case "undo":
                    await world.undo(given_)
                case "redo":
                    await world.redo()
                case "user":
                    world.user_edits(given_)
                case "beside":
                    await world.beside(given_)
                case _:
                    await world.other_undoes()
    finally:
        await maker.close()


@pytest.mark.timeout(0 if "UNDO_EXAMPLES" in os.environ else 600)
@settings(
    max_examples=EXAMPLES, deadline=None, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(st.sampled_from(KINDS), st.booleans(), st.lists(STEP, min_size=1, max_size=6))
def test_whatever_is_undone_comes_back_and_nothing_else_goes(
    kind: str, watched: bool, steps: list[Step]
) -> None:
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(workspace, "WATCHED_FILES", 1 if watched else 10**9)
        asyncio.run(_play(kind, steps, Path(directory).resolve()))


def test_a_repository_that_is_copied_twice_comes_and_goes_as_a_whole(tmp_path: Path) -> None:
    copy = {"name": "Bash", "arguments": {"command": "cp -r nested new2"}}
    asyncio.run(_play("without commits", [("turn", [copy]), ("turn", [copy, copy])], tmp_path))
