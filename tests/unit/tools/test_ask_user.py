"""AskUser: the shapes it takes, and the way of an answer back to the model."""

from contextlib import aclosing
from typing import Any

import pytest

from agent_cli.core.display import TableBlock
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.events import QuestionAsked, ToolFinished
from agent_cli.core.inbox import Answers, QuestionRequest
from agent_cli.core.tool import ToolResult
from agent_cli.tools.ask_user import TOOL, Params
from tests.kit.one_call import one_call, scene_with
from tests.kit.sessions import SceneMaker

COLOUR = {
    "question": "Which colour?",
    "options": [{"label": "red", "description": "like fire"}, {"label": "blue"}],
    "multiple": True,
}


async def answered(
    make_session: SceneMaker, arguments: dict[str, Any], *answers: str, name: str = "AskUser"
) -> tuple[QuestionRequest, ToolResult]:
    """What the person was asked, and what the model got."""
    scene = scene_with(make_session, name, arguments)
    asked: list[QuestionRequest] = []
    got: list[ToolResult] = []
    async with aclosing(scene.session.run("go")) as events:
        async for event in events:
            if isinstance(event, QuestionAsked):
                asked.append(event.request)
                scene.session.reply(event.request.id, Answers(answers=answers))
            if isinstance(event, ToolFinished):
                got.append(event.result)
    return asked[0], got[0]


def taken(arguments: dict[str, Any]) -> Params:
    return TOOL.bind(arguments).params


async def test_each_question_is_paired_with_its_answer(make_session: SceneMaker) -> None:
    arguments = {"questions": [COLOUR, {"question": "What name?"}]}
    request, result = await answered(make_session, arguments, "red, blue", "Ada")
    first, second = request.questions
    assert [(c.label, c.description) for c in first.choices] == [("red", "like fire"), ("blue", "")]
    assert first.multiple
    assert not second.choices
    assert result.llm_content == (
        "Question: Which colour?\nAnswer: red, blue\n\nQuestion: What name?\nAnswer: Ada"
    )
    assert result.summary == "2 of 2 questions answered"
    (block,) = result.display
    assert isinstance(block, TableBlock)
    assert block.rows == (("Which colour?", "red, blue"), ("What name?", "Ada"))


async def test_an_empty_answer_is_called_no_answer(make_session: SceneMaker) -> None:
    _, result = await answered(make_session, {"questions": [COLOUR]}, "  ")
    assert "Answer: (no answer)" in str(result.llm_content)


async def test_the_answer_to_one_question_is_the_summary(make_session: SceneMaker) -> None:
    _, result = await answered(make_session, {"questions": [COLOUR]}, "green\nlike grass")
    assert result.summary == "green"


async def test_where_nobody_is_there_the_model_is_told_to_decide(make_session: SceneMaker) -> None:
    result = await one_call(make_session, "AskUser", {"questions": [COLOUR]}, attended=False)
    assert not result.success
    assert "Decide yourself" in str(result.llm_content)


async def test_another_agents_shape_reaches_the_person(make_session: SceneMaker) -> None:
    arguments = {"question": "Which?", "follow_up": '["this", "that"]'}
    request, result = await answered(make_session, arguments, "this", name="ask_followup_question")
    assert [choice.label for choice in request.questions[0].choices] == ["this", "that"]
    assert result.llm_content == "Question: Which?\nAnswer: this"


def test_waiting_for_a_person_has_no_time_limit() -> None:
    assert TOOL.timeout is None


@pytest.mark.parametrize(
    "arguments",
    [
        {"questions": [COLOUR]},
        {"questions": COLOUR},
        {"questions": '[{"question": "Which colour?", "options": ["red", "blue"]}]'},
        {"questions": [{"text": "Which colour?", "choices": ["red", "blue"]}]},
        {
            "questions": [
                {"title": "Which colour?", "options": [{"text": "red"}, {"value": "blue"}]}
            ]
        },
        {"question": "Which colour?", "options": ["red", "blue"]},
        {"question": "Which colour?", "choices": [{"label": "red"}, "blue"], "multiSelect": True},
    ],
)
def test_the_usual_shapes_are_taken(arguments: dict[str, Any]) -> None:
    (question,) = taken(arguments).questions
    assert question.question == "Which colour?"
    assert [option.label for option in question.options] == ["red", "blue"]


def test_the_side_doors_are_not_in_the_schema() -> None:
    assert list(TOOL.schema["properties"]) == ["questions"]


@pytest.mark.parametrize(
    "questions",
    [
        [],
        [COLOUR] * 5,
        [{"question": ""}],
        [{"options": ["a"]}],
        [{"question": "a\0b"}],
        [{"question": "a", "options": ["x"] * 11}],
        [7],
        None,
    ],
)
def test_what_cannot_be_asked_is_refused_by_field(questions: Any) -> None:
    with pytest.raises(ToolFailure, match="questions") as caught:
        taken({"questions": questions})
    assert caught.value.type is FailureType.VALIDATION
