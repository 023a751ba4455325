"""Answers to choose from, and the words around them; the first of each is the default."""

from dataclasses import dataclass

from agent_cli.lib.language import mark, tr

TRUST_HEADING = mark("Do you trust this folder?")
TRUST_MEANING = mark("It may contain instructions for the agent and programs to run.")
TRUST_ENABLES = mark("Trusting it enables:")
IN_USE_HEADING = mark("This session is open elsewhere")
PLAN_HEADING = mark("Carry out this plan?")
QUESTION_HEADING = mark("The model asks")
OWN_QUESTION_HEADING = mark("agent asks")
WHY_NOT = mark("Why not, or what instead?")
WHAT_CHANGES = mark("What should change?")
YOUR_ANSWER = mark("Your answer")


@dataclass(frozen=True)
class AnswerOption:
    """One answer: what it is called, the key that gives it, what it would add."""

    id: str
    label: str
    key: str
    note: str = ""
    disabled: bool = False
    """It cannot be given yet."""


def trust_answers() -> tuple[AnswerOption, ...]:
    """Whether a folder is trusted."""
    return (
        AnswerOption("no", tr("No"), "n", tr("look around; nothing from the folder is loaded")),
        AnswerOption("yes", tr("Yes, I trust it"), "y", tr("remembered for this folder")),
    )


def in_use_answers() -> tuple[AnswerOption, ...]:
    """What to do about a session that another program has open."""
    return (
        AnswerOption("no", tr("Leave it there"), "n"),
        AnswerOption(
            "yes", tr("Fork it"), "y", tr("continue in a copy; the original is unchanged")
        ),
    )
