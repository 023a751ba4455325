"""Asks the user."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints, model_validator
from pydantic.json_schema import SkipJsonSchema

from agent_cli.core.display import TableBlock
from agent_cli.core.inbox import Choice, Question
from agent_cli.core.tool import Description, StatusTexts, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.language import mark, tr
from agent_cli.tools._aliases import names, other_names
from agent_cli.tools._lists import read_list, rename_keys

NO_ANSWER = mark("(no answer)")

_OPTION = {"label": ("text", "value", "title", "option"), "description": ("detail", "details")}
_QUESTION = {
    "question": ("text", "prompt", "title"),
    "options": ("choices", "suggestions", "follow_up"),
    "multiple": ("multiSelect", "multi_select", "multiselect", "allow_multiple"),
}

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Option(ToolParams):
    """One offered answer."""

    label: Words
    description: str = ""

    @model_validator(mode="before")
    @classmethod
    def _usual_names(cls, data: Any) -> Any:
        return rename_keys(data, _OPTION)


class AskedQuestion(ToolParams):
    """One question."""

    question: Words
    options: Annotated[tuple[Option, ...], Field(max_length=10), BeforeValidator(read_list)] = ()
    multiple: bool = False
    """Whether several options may be chosen."""

    @model_validator(mode="before")
    @classmethod
    def _usual_names(cls, data: Any) -> Any:
        return rename_keys(data, _QUESTION)


class Params(ToolParams):
    """What to ask."""

    questions: Annotated[
        list[AskedQuestion], Field(min_length=1, max_length=4), BeforeValidator(read_list)
    ]
    options: SkipJsonSchema[Any] = Field(None, exclude=True)  # of one question, beside it
    multiple: SkipJsonSchema[Any] = Field(None, exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _question_in_pieces(cls, data: Any) -> Any:
        """Some models give a single question's text and options side by side."""
        if not isinstance(data, Mapping) or not isinstance(data.get("questions"), str):
            return data
        if read_list(data["questions"]) != data["questions"]:
            return data
        pieces = {key: data[key] for key in ("options", "multiple") if data.get(key) is not None}
        return {"questions": [{"question": data["questions"], **pieces}]}


async def run(params: Params, context: ToolContext) -> ToolResult:
    """Ask, wait as long as it takes, and pair each question with its answer."""
    given = await context.ask(tuple(_question(asked) for asked in params.questions))
    answers = [answer.strip() or NO_ANSWER for answer in given.answers]
    pairs = tuple(
        (asked.question, answer) for asked, answer in zip(params.questions, answers, strict=True)
    )
    shown = tuple((asked, tr(a) if a == NO_ANSWER else a) for asked, a in pairs)
    return ToolResult(
        llm_content="\n\n".join(f"Question: {asked}\nAnswer: {answer}" for asked, answer in pairs),
        display=(TableBlock(columns=(tr("Question"), tr("Answer")), rows=shown),),
        summary=_summary(answers),
    )


def _question(asked: AskedQuestion) -> Question:
    choices = tuple(
        Choice(label=option.label, description=option.description) for option in asked.options
    )
    return Question(text=asked.question, choices=choices, multiple=asked.multiple)


def _summary(answers: list[str]) -> str:
    if len(answers) == 1:
        if answers[0] == NO_ANSWER:
            return tr(NO_ANSWER)
        first = answers[0].partition("\n")[0]
        return first if len(first) <= 60 else f"{first[:59]}…"
    answered = sum(answer != NO_ANSWER for answer in answers)
    return tr("{answered} of {n} questions answered", answered=answered, n=len(answers))


def _title(params: Params) -> str:
    first = params.questions[0].question
    more = len(params.questions) - 1
    return tr("{first} (and {more} more)", first=first, more=more) if more else first


TOOL = Tool(
    name="AskUser",
    kind=ToolKind.READONLY,
    params=Params,
    run=run,
    description=Description.beside(__file__),
    display_name=mark("Question"),
    title=_title,
    aliases=names(
        "ask question ask_question ask_questions ask_user_question ask_followup_question "
        "ask_human request_user_input"
    ),
    param_aliases=other_names(
        questions="question prompt", options="follow_up choices", multiple="multi_select"
    ),
    category="planning",
    status=StatusTexts(mark("Waiting for your answer…"), mark("Not answered")),
    is_concurrency_safe=False,  # one question at a time is enough for the user
    timeout=None,
)
