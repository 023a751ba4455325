"""What a session opens it closes again, whatever goes wrong."""

from contextlib import suppress
from pathlib import Path

import pytest

from agent_cli.core.errors import UserError
from agent_cli.launch_options import Resume
from tests.kit.sessions import SceneMaker, finish


def open_files(name: str) -> int:
    """How many of this process's descriptors lead to a file of this name."""
    found = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found += descriptor.readlink().name == name
    return found


class Unclosable:
    """A tool's memory that cannot be closed."""

    async def close(self) -> None:
        raise RuntimeError("stuck")


class Closable:
    """A tool's memory that can."""

    is_closed = False

    async def close(self) -> None:
        self.is_closed = True


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="there is no /proc")
async def test_a_closed_session_holds_no_file_of_the_audit_log(make_session: SceneMaker) -> None:
    before = open_files("audit.jsonl"), open_files("audit.lock")
    scene = make_session({"calls": [{"name": "Bash", "arguments": {"command": "ls"}}]}, {})
    await scene.play()
    assert open_files("audit.jsonl") == before[0] + 1
    await scene.session.close()
    assert (open_files("audit.jsonl"), open_files("audit.lock")) == before


async def test_a_failed_open_leaves_the_session_free(make_session: SceneMaker) -> None:
    scene = make_session({"text": "hello"})
    await scene.play()
    await scene.session.close()
    again = Resume(text=scene.session.id)
    for _ in range(2):
        with pytest.raises(UserError, match="There is no tool named Nope"):
            make_session(tools=("Nope",), resume=again)
    scene = make_session({"text": "welcome back"}, resume=again)
    assert finish(await scene.play()).text == "welcome back"


async def test_one_part_that_cannot_be_closed_keeps_no_other_open(
    make_session: SceneMaker,
) -> None:
    scene = make_session({"text": "hello"})
    await scene.play()
    first, _, last = map(scene.session.state, (Closable, Unclosable, type("C", (Closable,), {})))
    temporary = scene.session._parts.view.temporary
    assert temporary is not None
    with pytest.raises(RuntimeError, match="stuck"):
        await scene.session.close()
    assert first.is_closed
    assert last.is_closed
    assert not Path(temporary).exists()
    make_session(resume=Resume(text=scene.session.id))  # it is not locked any more
