"""What the answers to a request come to, where one thing is asked after the other."""

from collections.abc import Awaitable, Callable, Sequence

from agent_cli.core.inbox import Approval, PlanAnswer, Question
from agent_cli.frontends.shared.answers import Answer
from agent_cli.frontends.shared.requests import chosen_labels, question_answers


def approval(answer: str) -> Approval:
    """An answer about a call; anything but a yes is a no."""
    match answer:
        case "once" | "session" | "project":
            return Approval(answer=answer)
        case _:
            return Approval()


def plan_answer(answer: str, plan: str = "") -> PlanAnswer:
    """An answer about a plan, maybe as the person changed it; anything but a yes keeps planning."""
    match answer:
        case "default" | "accept-edits":
            return PlanAnswer(answer=answer, plan=plan)
        case _:
            return PlanAnswer(plan=plan)


async def answered(
    question: Question,
    choose: Callable[[Sequence[Answer]], Awaitable[str]],
    write: Callable[[], Awaitable[str | None]] | None = None,
) -> str:
    """What the person says to a question; empty: nothing.

    `write` takes words of their own; without it these are not among what can be chosen.
    """
    chosen: set[int] = set()
    while True:
        match await choose(tuple(question_answers(question, chosen))):
            case "own" if write is not None:
                text = await write()
                if text is not None:
                    return text
            case "" | "skip":
                return ""
            case "done":
                return chosen_labels(question, chosen)
            case number if question.multiple:
                chosen ^= {int(number)}
            case number:
                return question.choices[int(number)].label
