"""Foreign text in every place of these screens: nothing acts, nothing hides."""

import json
from pathlib import Path
from typing import Any

import pytest
from textual.content import Content

from agent_cli.core.display import DiffBlock, TextBlock
from agent_cli.core.inbox import ApprovalRequest, Choice, Question, QuestionRequest, Step
from agent_cli.frontends.tui.app_parts import trust_menu
from agent_cli.frontends.tui.completion import Completing, render_list
from agent_cli.frontends.tui.modals.approval_modal import ApprovalModal, describe
from agent_cli.frontends.tui.modals.menu import MenuModal
from agent_cli.frontends.tui.modals.plan_modal import PlanModal
from agent_cli.frontends.tui.modals.question_modal import QuestionModal
from agent_cli.frontends.tui.modals.sheet import wrap_parts
from agent_cli.frontends.tui.notify import notification
from agent_cli.frontends.tui.queue_line import render_queue
from agent_cli.frontends.tui.status import Status, render_status
from tests.screens.host import Host, screen_text

FILE = Path(__file__).parent.parent / "cases" / "terminal_cases.jsonl"
CASES = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
IDS = [case["id"] for case in CASES]


def text_of(case: dict[str, Any]) -> str:
    return "".join(case.get("chunks", ())) or case["output"] * case.get("repeat", 1)


def request(text: str) -> ApprovalRequest:
    return ApprovalRequest(
        id="ask-1",
        call_id="c",
        tool=text,
        title=text,
        reasons=(text,),
        targets=(text,),
        preview=TextBlock(text=text, language="bash"),
        description=text,
        consequences=(text,),
        steps=(Step(text=text, note=text),),
        resolved=(text,),
        odd=(text,),
        rule=text,
    )


def harmless(shown: str) -> bool:
    """Only characters that a terminal draws, and nothing that hides or turns text."""
    return all(character == "\n" or _is_drawn(character) for character in shown)


def _is_drawn(character: str) -> bool:
    code = ord(character)
    hidden = 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069 or 0xE0000 <= code <= 0xE007F
    return code >= 0x20 and not 0x7F <= code <= 0x9F and not hidden


def plain(parts: Any, width: int = 90) -> str:
    return "\n".join(line.plain for line in wrap_parts(parts, width))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_in_an_approval_it_is_spelled_out_and_warned_of(case: dict[str, Any]) -> None:
    asked = request(text_of(case))
    if case["context"] == "filename":  # a name stands on one line, a command may have several
        asked = asked.model_copy(update={"preview": None})
    shown = plain(describe(asked))
    assert harmless(shown)
    for forbidden in case["must_not_contain"]:
        if not forbidden.isprintable() or len(forbidden) == 1:
            assert forbidden not in shown
    if case.get("modal_must_show_escaped"):
        assert "\\x" in shown or "\\u{" in shown or "\\r" in shown or "\\b" in shown
    if case.get("modal_must_warn"):
        assert "⚠ Beware" in plain(describe(request(text_of(case)).model_copy(update={"odd": ()})))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_on_the_lines_it_is_only_text(case: dict[str, Any]) -> None:
    text = text_of(case)
    for line in (
        render_status(Status(mode=text, model=text, sandbox=text, branch=text, hint=text), 400),
        render_queue((text,), 400),
        render_list((Completing(text, text, text),), 0, 400),
    ):
        assert harmless(line.plain)
        assert "\n" not in line.plain


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_notification_can_not_be_ended_by_its_text(case: dict[str, Any]) -> None:
    sent = notification(text_of(case), text_of(case))
    assert sent.count("\x1b") == 4
    assert sent.count("\a") == 1
    assert harmless(sent.replace("\x1b", "").replace("\a", ""))


MODALS = {
    "approval": lambda text: ApprovalModal(request(text), runs=text),
    "diff": lambda text: ApprovalModal(
        request(text).model_copy(update={"preview": DiffBlock(path=text, diff=text)})
    ),
    "question": lambda text: QuestionModal(
        QuestionRequest(
            id="a",
            call_id="c",
            questions=(Question(text=text, choices=(Choice(label=text, description=text),)),),
        )
    ),
    "trust": lambda text: MenuModal(trust_menu(text, [text])),
    "plan": lambda text: PlanModal(text),
}


@pytest.mark.parametrize("name", MODALS)
async def test_no_modal_lets_anything_through(name: str) -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        for case in (case for number, case in enumerate(CASES) if _is_tried(case, number)):
            await app.push_screen(MODALS[name](text_of(case)))
            await pilot.pause()
            assert harmless(screen_text(app)), case["id"]
            await app.pop_screen()


def _is_tried(case: dict[str, Any], number: int) -> bool:
    """The words are tried with all cases above; a screen takes longer."""
    return case["context"] == "modal" or number % 4 == 0


@pytest.mark.parametrize(
    "markup", ["[b]x[/b]", "[/", "[@click=app.quit]x[/]", "[link=http://x]y[/]"]
)
async def test_markup_is_text(markup: str) -> None:
    app = Host()
    async with app.run_test(size=(120, 50)) as pilot:
        await app.push_screen(ApprovalModal(request(markup), runs=markup))
        await pilot.pause()
        assert screen_text(app).count(markup) >= 8


def test_a_sheet_loses_no_character_of_a_command() -> None:
    command = "echo   a  b " * 40
    request_ = request(command)
    shown = [line.plain for line in wrap_parts(list(describe(request_))[:1], 33)]
    assert "".join(shown) == command
    assert Content(command).plain == command
