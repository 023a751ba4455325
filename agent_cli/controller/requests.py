"""What can be answered to what a session asks, and what an answer comes to."""

from collections.abc import Awaitable, Callable, Iterator, Sequence

from agent_cli.controller.answers import OWN_QUESTION_HEADING, QUESTION_HEADING, AnswerOption
from agent_cli.core import inbox
from agent_cli.core.display import DiffBlock, TerminalBlock, TextBlock
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import visible


def approval_heading(request: inbox.ApprovalRequest) -> str:
    """What is asked, by what is shown, and for which agent."""
    match request.preview:
        case TerminalBlock() | TextBlock(language="bash"):
            asked = tr("Run this command?")
        case DiffBlock():
            asked = tr("Make this change?")
        case _:
            asked = tr("Allow {tool}?", tool=visible(request.tool, one_line=True))
    return _by_agent(request, asked)


def _by_agent(request: inbox.ApprovalRequest, asked: str) -> str:
    if not request.agent:
        return asked
    return f"{visible(request.agent, one_line=True)}: {asked}"


def approval_answers(
    request: inbox.ApprovalRequest, *, is_read: bool = True
) -> tuple[AnswerOption, ...]:
    """No, why not, and the ways to say yes; those wait until all was seen."""
    answers = [
        AnswerOption("no", tr("No"), "n"),
        AnswerOption("because", tr("No, because …"), "b"),
        AnswerOption("once", tr("Yes, once"), "y", disabled=not is_read),
    ]
    if request.confinable:
        note = tr("it can change the workspace only, without network")
        label = tr("Yes, in the sandbox")
        answers.append(AnswerOption("confined", label, "c", note, disabled=not is_read))
    if request.rule:
        rule = visible(request.rule, one_line=True)
        answers += (
            AnswerOption(
                "session", tr("Yes, always in this session"), "s", rule, disabled=not is_read
            ),
            AnswerOption(
                "project", tr("Yes, always in this project"), "p", rule, disabled=not is_read
            ),
        )
    return tuple(answers)


def plan_answers(*, is_read: bool = True) -> tuple[AnswerOption, ...]:
    """To think on, to change the plan, or to carry it out."""
    return (
        AnswerOption("keep", tr("Keep planning"), "k"),
        AnswerOption("because", tr("Keep planning, but …"), "b"),
        AnswerOption("edit", tr("Edit the plan"), "e"),
        AnswerOption("default", tr("Yes, and ask before changes"), "y", disabled=not is_read),
        AnswerOption("accept-edits", tr("Yes, and accept edits"), "a", disabled=not is_read),
    )


def question_heading(request: inbox.QuestionRequest) -> str:
    """Who asks."""
    return tr(QUESTION_HEADING) if request.by == "model" else tr(OWN_QUESTION_HEADING)


def question_answers(question: inbox.Question, chosen: set[int]) -> Iterator[AnswerOption]:
    """What is offered, by number, and mostly the user's own words too."""
    for number, choice in enumerate(question.choices):
        label = visible(choice.label, one_line=True)
        if question.multiple:
            label = f"{'☑' if number in chosen else '☐'} {label}"
        key = str(number + 1) if number < 9 else ""
        yield AnswerOption(str(number), label, key, visible(choice.description, one_line=True))
    if question.multiple and question.choices:
        yield AnswerOption("done", tr("Done"), "d")
    if question.is_open:
        if question.choices:
            yield AnswerOption("own", tr("Something else …"), "o")
        else:
            yield AnswerOption("own", tr("Write an answer …"), "w")
        yield AnswerOption("skip", tr("No answer"), "n")


def chosen_labels(question: inbox.Question, chosen: set[int]) -> str:
    """What was ticked, in the order it was offered."""
    return ", ".join(c.label for number, c in enumerate(question.choices) if number in chosen)


def request_title(request: inbox.Request) -> str:
    """What is asked, in a few words."""
    match request:
        case inbox.ApprovalRequest():
            return _by_agent(request, f"{request.tool} {request.title}")
        case inbox.QuestionRequest():
            return request.questions[0].text if request.questions else ""
        case inbox.PlanRequest():
            return tr("a plan to approve")


def refusal(request: inbox.Request) -> inbox.RequestAnswer:
    """What it means to leave a question without an answer."""
    match request:
        case inbox.ApprovalRequest():
            return inbox.Approval()
        case inbox.QuestionRequest():
            return inbox.Answers(answers=())
        case inbox.PlanRequest():
            return inbox.PlanAnswer()


def as_approval(answer: str) -> inbox.Approval:
    """An answer about a call; anything but a yes is a no."""
    match answer:
        case "once" | "confined" | "session" | "project":
            return inbox.Approval(answer=answer)
        case _:
            return inbox.Approval()


def as_plan_answer(answer: str, plan: str = "") -> inbox.PlanAnswer:
    """An answer about a plan, maybe as the user changed it; anything but a yes keeps planning."""
    match answer:
        case "default" | "accept-edits":
            return inbox.PlanAnswer(answer=answer, plan=plan)
        case _:
            return inbox.PlanAnswer(plan=plan)


async def ask_question(
    question: inbox.Question,
    choose: Callable[[Sequence[AnswerOption]], Awaitable[str]],
    write: Callable[[], Awaitable[str | None]] | None = None,
) -> str:
    """What the user says to a question; empty: nothing.

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
