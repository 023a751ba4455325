"""What tools tell in another language: a person reads that one, the model reads English."""

import gettext
from collections.abc import Iterator
from typing import Any

import pytest

from agent_cli.core.events import ToolFinished
from agent_cli.core.messages import ToolMessage, text_of
from agent_cli.lib import language
from tests.kit.sessions import SceneMaker, of_type

FOREIGN = "〔"
FILES = {"a.txt": "one\ntwo\ntwo\n", "b.txt": "two\n", ".hidden": "x\n"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("Read", {"file_path": "a.txt", "limit": 1}),
    ("Read", {"file_path": "a.tx"}),
    ("Read", {"file_path": "."}),
    ("Read", {"file_path": "a.txt/x"}),
    ("Write", {"file_path": "new.txt", "content": "x\n"}),
    ("Write", {"file_path": "b.txt", "content": "x\n"}),
    ("Edit", {"file_path": "a.txt", "old_string": "one", "new_string": "1"}),
    ("Edit", {"file_path": "a.txt", "old_string": "two", "new_string": "2"}),
    ("Edit", {"file_path": "a.txt", "old_string": "\ttwo\ntwo", "new_string": "2"}),
    ("Edit", {"file_path": "nowhere.txt", "old_string": "a", "new_string": "b"}),
    ("Grep", {"pattern": "two"}),
    ("Grep", {"pattern": "two", "output_mode": "count"}),
    ("Grep", {"pattern": "("}),
    ("Grep", {"pattern": "no such text"}),
    ("Glob", {"pattern": "*.txt"}),
    ("Glob", {"pattern": "*.nothing"}),
    ("ListFiles", {"path": "."}),
    ("Replace", {"pattern": "two", "replacement": "2"}),
    ("Replace", {"pattern": "two", "replacement": "2", "preview": False}),
    ("Replace", {"pattern": "nothing like it", "replacement": "2", "preview": False}),
    ("GitInfo", {}),
    ("CurrentDateTime", {}),
    ("TodoWrite", {"todos": ["a", {"content": "b", "status": "in_progress"}]}),
    ("Bash", {"command": "echo hello; false"}),
    ("Bash", {"command": "true", "working_directory": "a.txt"}),
    ("Bash", {"command": "sleep 9", "run_in_background": True}),
    ("BashOutput", {"job_id": "bash_1"}),
    ("BashOutput", {}),
    ("KillShell", {"job_id": "bash_1"}),
    ("KillShell", {"job_id": "bash_9"}),
]


class Bracketed(gettext.GNUTranslations):
    """A language that is English in brackets, so that nothing said in it is overlooked."""

    def gettext(self, message: str) -> str:
        return f"{FOREIGN}{message}〕"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)


@pytest.fixture
def another_language(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(language, "_catalogue", Bracketed())
    yield


@pytest.mark.usefixtures("another_language")
async def test_the_model_reads_english_and_a_person_their_own_language(
    make_session: SceneMaker,
) -> None:
    steps = [{"calls": [{"name": name, "arguments": given}]} for name, given in CALLS]
    scene = make_session(*steps, {"text": "done"}, files=FILES, settings={"mode": "yolo"})
    finished = of_type(await scene.play(), ToolFinished)
    assert len(finished) == len(CALLS)
    for event, call in zip(finished, CALLS, strict=True):
        result = event.result
        assert result.error or FOREIGN in result.summary, call
        assert result.error or result.display, call  # without it a person sees the model's text
    told = [m for m in scene.model.requests[-1].messages if isinstance(m, ToolMessage)]
    for message, call in zip(told, CALLS, strict=True):
        assert FOREIGN not in text_of(message.content), call
