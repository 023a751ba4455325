"""Questions as a form, for editors that can show one; words of one's own are an answer there."""

from collections.abc import Mapping, Sequence
from typing import Any

from acp import schema

from agent_cli.controller.requests import chosen_labels
from agent_cli.core.inbox import Question
from agent_cli.frontends.acp.blocks import plain
from agent_cli.frontends.shared.approval_text import one_line
from agent_cli.lib.language import tr

Field = schema.ElicitationStringPropertySchema | schema.ElicitationMultiSelectPropertySchema


def form(questions: Sequence[Question]) -> schema.ElicitationSchema:
    """A field for what each question offers, and one for other words."""
    fields: dict[str, Field] = {}
    for number, question in enumerate(questions):
        title, told = one_line(question.text)[:200], plain(question.text)
        if question.choices:
            fields[f"choice{number}"] = _choice(question, title, told)
        if question.is_open:
            fields[f"words{number}"] = schema.ElicitationStringPropertySchema(
                type="string",
                title=tr("Your own answer") if question.choices else title,
                description=None if question.choices else told,
            )
    return schema.ElicitationSchema(type="object", properties={**fields})


def read_answers(questions: Sequence[Question], content: Mapping[str, Any]) -> tuple[str, ...]:
    """The answers that a form holds; empty: none. The user's own words go before a choice."""
    return tuple(_answer(question, number, content) for number, question in enumerate(questions))


def _choice(question: Question, title: str, told: str) -> Field:
    options = [
        schema.EnumOption(
            const=str(number),
            title=one_line(choice.label),
            description=one_line(choice.description) or None,
        )
        for number, choice in enumerate(question.choices)
    ]
    if question.multiple:
        items = schema.TitledMultiSelectItems(any_of=options)
        return schema.ElicitationMultiSelectPropertySchema(
            type="array", title=title, description=told, items=items
        )
    return schema.ElicitationStringPropertySchema(
        type="string", title=title, description=told, one_of=options
    )


def _answer(question: Question, number: int, content: Mapping[str, Any]) -> str:
    words = content.get(f"words{number}")
    if question.is_open and isinstance(words, str) and words.strip():
        return words
    given = content.get(f"choice{number}")
    chosen = given if isinstance(given, list) else [given]
    known = {str(at): at for at in range(len(question.choices))}
    return chosen_labels(question, {known[each] for each in chosen if each in known})
