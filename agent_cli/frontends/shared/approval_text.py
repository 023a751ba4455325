"""Everything the user needs to decide about a call, as text that is safe to show."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from agent_cli.core.display import DiffBlock, TerminalBlock, TextBlock
from agent_cli.core.inbox import ApprovalRequest
from agent_cli.lib.language import mark, tr
from agent_cli.safety.reasons import Reason, in_words
from agent_cli.safety.sanitise import oddities, visible

BEWARE = mark("Beware")
MODEL_SAYS = mark("The model says")


class Fact(NamedTuple):
    """A label and what it says; the label of a further line of the same kind is empty."""

    label: str
    text: str


def where(request: ApprovalRequest) -> str:
    """What surrounds a command; of a change to a file there is nothing to say."""
    if not request.steps:
        return ""
    if request.sandbox == "missing":
        return tr(
            "without a sandbox: none works on this machine; in {directory}",
            directory=request.directory,
        )
    if request.sandbox == "none":
        return tr("without a sandbox, in {directory}", directory=request.directory)
    return tr(
        "in the sandbox ({sandbox}), without network, in {directory}",
        sandbox=request.sandbox,
        directory=request.directory,
    )


def told_steps(request: ApprovalRequest) -> tuple[Fact, ...]:
    """Each simple command and what it does, if that says more than the command itself."""
    if not request.steps or (len(request.steps) == 1 and not request.steps[0].note):
        return ()
    return tuple(Fact(one_line(step.text), "; ".join(_words(step.note))) for step in request.steps)


def warnings(request: ApprovalRequest) -> tuple[str, ...]:
    """The engine's, and our own look at what is shown, should the engine not have looked."""
    match request.preview:
        case TextBlock(text=text) | TerminalBlock(command=text) | DiffBlock(diff=text):
            own = oddities(text)
        case _:
            own = oddities(request.title)
    return tuple(dict.fromkeys(_words((*request.odd, *own))))


def facts(request: ApprovalRequest, runs: str) -> Iterator[Fact]:
    """What the call means and why it is asked; `runs` says where it would run."""
    yield from _facts(tr("Consequences"), _words(_not_said_above(request)))
    yield from _facts(tr("Leads to"), request.resolved)
    if not request.steps:  # a command is shown whole above
        yield from _facts(tr("Touches"), _not_named_above(request))
    yield from _facts(tr("Asked because"), _words(request.reasons))
    yield from _facts(tr("Undo"), _words((request.undo,)) if request.undo else ())
    if request.network:
        yield from _facts(tr("Network"), (tr("it talks to other machines"),))
    yield from _facts(tr("Runs"), (runs,) if runs else ())


def quote_model(request: ApprovalRequest) -> str:
    """The model's own words, in quotation marks; empty if it has none."""
    return f"“{one_line(request.description)}”" if request.description else ""


def diff_body(block: DiffBlock) -> str:
    """The diff without the two lines that name the file, and without blank ends."""
    text = visible(block.diff)
    # Those two and only those: a removed "-- x" looks like one of them.
    if text.startswith("--- ") and "\n@@" in text:
        text = text[text.index("\n@@") + 1 :]
    return "\n".join(_without_blank_ends(text.removesuffix("\n").split("\n")))


def shown_path(block: DiffBlock, directory: str) -> str:
    """The path of the changed file, relative inside the directory."""
    return block.path.removeprefix(f"{directory.rstrip('/')}/") if directory else block.path


def one_line(text: str) -> str:
    """Foreign text on one line, with everything odd in it spelled out."""
    return visible(text, one_line=True)


def _words(reasons: Iterable[Reason]) -> tuple[str, ...]:
    return tuple(one_line(in_words(reason)) for reason in reasons)


def _not_said_above(request: ApprovalRequest) -> tuple[Reason, ...]:
    """The consequences that aren't shown beside the command they belong to already."""
    return tuple(
        line
        for line in request.consequences
        if not any(line in step.note for step in request.steps)
    )


def _not_named_above(request: ApprovalRequest) -> tuple[str, ...]:
    """The targets without the file whose diff is shown under its name."""
    if not isinstance(request.preview, DiffBlock):
        return request.targets
    named = shown_path(request.preview, request.directory)
    return tuple(path for path in request.targets if path != named)


def _without_blank_ends(lines: Sequence[str]) -> Iterator[str]:
    """The lines without empty context where a hunk begins or ends: it would only be scrolled."""
    blank: list[str] = []
    at_start = True
    for line in lines:
        is_header = line.startswith("@@")
        if not line.strip():
            blank.append(line)
            continue
        if not at_start and not is_header:
            yield from blank
        blank.clear()
        at_start = is_header
        yield line


def _facts(label: str, values: tuple[str, ...]) -> Iterator[Fact]:
    for number, value in enumerate(values):
        yield Fact("" if number else label, one_line(value))
