"""Answers to choose from, and the words around them; the first of each is the default."""

from dataclasses import dataclass

TRUST_HEADING = "Do you trust this folder?"
TRUST_MEANING = "A folder can tell the agent what to do and bring programs to run."
TRUST_ENABLES = "If you trust it, these take effect:"
IN_USE_HEADING = "This session is open elsewhere"
PLAN_HEADING = "Carry out this plan?"
QUESTION_HEADING = "The model asks"
OWN_QUESTION_HEADING = "agent asks"
WHY_NOT = "Why not, or what instead?"
WHAT_CHANGES = "What should change?"
YOUR_ANSWER = "Your answer"


@dataclass(frozen=True)
class Answer:
    """One answer: what it is called, the key that gives it, what it would add."""

    id: str
    label: str
    key: str
    note: str = ""
    disabled: bool = False
    """It cannot be given yet."""


TRUST_ANSWERS = (
    Answer("no", "No", "n", "look around; nothing of the folder is loaded"),
    Answer("yes", "Yes, I trust it", "y", "remembered for this folder"),
)
IN_USE_ANSWERS = (
    Answer("no", "Leave it there", "n"),
    Answer("yes", "Go on in a copy", "y", "the session itself stays as it is"),
)
