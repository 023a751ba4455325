"""TodoWrite: what it keeps, shows and refuses."""

from typing import Any

import pytest

from agent_cli.core.display import TodoBlock
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.events import ApprovalAsked, ToolFinished
from agent_cli.tools.todo_write import TOOL, TodoList
from tests.kit.one_call import one_call
from tests.kit.sessions import SceneMaker, of_type


def written(*items: Any) -> list[tuple[str, str]]:
    params = TOOL.bind({"todos": list(items)}).params
    return [(todo.content, todo.status) for todo in params.todos]


async def test_the_list_is_shown_and_counted(make_session: SceneMaker) -> None:
    todos = [
        {"content": "look", "status": "completed"},
        {"content": "mend", "status": "in_progress"},
        {"content": "test"},
    ]
    result = await one_call(make_session, "TodoWrite", {"todos": todos})
    assert result.llm_content == "1 of 3 done, 1 in progress."
    assert result.summary == "1 of 3 done, 1 in progress"
    (block,) = result.display
    assert isinstance(block, TodoBlock)
    assert [(item.text, item.status) for item in block.items] == [
        ("look", "completed"),
        ("mend", "in_progress"),
        ("test", "pending"),
    ]


async def test_a_new_list_takes_the_place_of_the_old_one(make_session: SceneMaker) -> None:
    def step(*items: str) -> dict[str, Any]:
        return {"calls": [{"name": "TodoWrite", "arguments": {"todos": list(items)}}]}

    scene = make_session(step("a", "b"), step("c"), step(), {"text": "done"})
    finished = of_type(await scene.play(), ToolFinished)
    told = [event.result.llm_content for event in finished]
    assert told == ["0 of 2 done.", "0 of 1 done.", "The list is empty."]
    assert scene.session.state(TodoList).items == ()


@pytest.mark.parametrize("mode", ["default", "plan"])
async def test_it_never_asks_and_works_in_every_mode(make_session: SceneMaker, mode: str) -> None:
    scene = make_session(
        {"calls": [{"name": "TodoWrite", "arguments": {"todos": ["a"]}}]},
        {"text": "done"},
        settings={"mode": mode},
        trust=False,
    )
    events = await scene.play()
    assert not of_type(events, ApprovalAsked)
    assert of_type(events, ToolFinished)[0].result.success
    assert "TodoWrite" in [tool["function"]["name"] for tool in scene.model.requests[0].tools]


async def test_two_items_in_progress_are_refused(make_session: SceneMaker) -> None:
    todos = [{"content": name, "status": "in_progress"} for name in ("a", "b")]
    result = await one_call(make_session, "TodoWrite", {"todos": todos})
    assert result.error is not None
    assert result.error.type is FailureType.VALIDATION
    assert "only one item may be in_progress, not 2 ('a', 'b')" in str(result.llm_content)


@pytest.mark.parametrize("name", ["content", "text", "title", "task", "step", "description"])
def test_the_usual_names_of_the_text_are_taken(name: str) -> None:
    assert written({name: "a", "activeForm": "doing a", "id": 1}) == [("a", "pending")]


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ("in-progress", "in_progress"),
        ("In Progress", "in_progress"),
        ("inProgress", "in_progress"),
        ("done", "completed"),
        ("Completed", "completed"),
        ("not-started", "pending"),
        ("todo", "pending"),
        (True, "completed"),
    ],
)
def test_the_usual_words_for_a_status_are_taken(given: Any, status: str) -> None:
    assert written({"content": "a", "status": given}) == [("a", status)]


def test_a_list_as_json_text_and_another_tools_shape_are_taken() -> None:
    text = '[{"step": "a", "status": "done"}, "b"]'
    params = TOOL.bind({"plan": text}).params
    assert [(todo.content, todo.status) for todo in params.todos] == [
        ("a", "completed"),
        ("b", "pending"),
    ]


@pytest.mark.parametrize(
    "todos",
    [
        [{"status": "done"}],
        [{"content": "  "}],
        [{"content": "a", "status": "perhaps"}],
        [{"content": "a\0b"}],
        [{"content": "\ud800"}],
        [3],
        "not a list",
        None,
        ["a"] * 101,
        ["a" * 501],
    ],
)
def test_what_is_no_list_is_refused_by_field(todos: Any) -> None:
    with pytest.raises(ToolFailure, match="todos") as caught:
        TOOL.bind({"todos": todos})
    assert caught.value.type is FailureType.VALIDATION
