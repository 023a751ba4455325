"""Questions, plans, trust and help."""

import asyncio
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.inbox import Answers, Choice, Question, QuestionRequest
from agent_cli.frontends.tui.app_parts import trust_menu
from agent_cli.frontends.tui.modals.help_modal import HelpModal
from agent_cli.frontends.tui.modals.menu import MenuModal
from agent_cli.frontends.tui.modals.plan_modal import PlanAnswer, PlanModal
from agent_cli.frontends.tui.modals.question_modal import QuestionModal
from tests.screens.host import Host, at_once, readable, screen_text, type_text

ONE = Question(
    text="Which database?",
    choices=(Choice(label="SQLite", description="fast"), Choice(label="PostgreSQL")),
)
MANY = Question(
    text="Which checks?", choices=(Choice(label="types"), Choice(label="lint")), multiple=True
)
FREE = Question(text="What is it called?")


def asked(*questions: Question) -> QuestionModal:
    request = QuestionRequest(id="ask-1", call_id="c", questions=questions)
    return QuestionModal(request, guard=at_once())


async def until(pilot: Any, condition: Any) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await pilot.pause(0.01)


async def test_an_option_is_picked_by_its_number() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(asked(ONE))
        await readable(app, pilot)
        assert "Which database?" in screen_text(app)
        await pilot.press("2")
        await until(pilot, lambda: app.answers)
        assert app.answers == [Answers(answers=("PostgreSQL",))]


async def test_several_options_are_ticked_and_then_given() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(asked(MANY))
        await readable(app, pilot)
        for key, shown in (("1", "☑ types"), ("2", "☑ lint"), ("1", "☐ types"), ("1", "☑ types")):
            await pilot.press(key)
            await until(pilot, lambda shown=shown: shown in screen_text(app))
        await pilot.press("d")
        await until(pilot, lambda: app.answers)
        assert app.answers == [Answers(answers=("types, lint",))]


async def test_own_words_are_always_possible() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(asked(ONE))
        await readable(app, pilot)
        await pilot.press("o")
        await until(pilot, lambda: app.focused is not None)
        await type_text(pilot, "DuckDB 1")
        await pilot.press("enter")
        await until(pilot, lambda: app.answers)
        assert app.answers == [Answers(answers=("DuckDB 1",))]


async def test_a_question_without_options_opens_a_line() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(asked(FREE))
        await until(pilot, lambda: app.focused is not None)
        await type_text(pilot, "agent")
        await pilot.press("enter")
        await until(pilot, lambda: app.answers)
        assert app.answers == [Answers(answers=("agent",))]


async def test_one_question_after_the_other() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(asked(ONE, MANY, FREE))
        await readable(app, pilot)
        assert "1 of 3" in screen_text(app)
        await pilot.press("1")
        await until(pilot, lambda: "2 of 3" in screen_text(app))
        await pilot.press("n")
        await until(pilot, lambda: "3 of 3" in screen_text(app))
        await until(pilot, lambda: app.focused is not None)
        await pilot.press("x", "enter")
        await until(pilot, lambda: app.answers)
        assert app.answers == [Answers(answers=("SQLite", "", "x"))]


async def test_esc_leaves_all_questions_that_are_left_unanswered() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(asked(ONE, ONE))
        await readable(app, pilot)
        await pilot.press("1")
        await until(pilot, lambda: "2 of 2" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.answers)
        assert app.answers == [Answers(answers=("SQLite", ""))]


@pytest.mark.parametrize(
    ("key", "answer"), [("n", "no"), ("escape", "no"), ("enter", "no"), ("y", "yes")]
)
async def test_trust_is_given_only_by_a_yes(key: str, answer: str) -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        menu = trust_menu("~/src/shop", ["2 hooks in .agent/hooks.toml"])
        app.ask(MenuModal(menu, guard=at_once()))
        await readable(app, pilot)
        assert "2 hooks in .agent/hooks.toml" in screen_text(app)
        await pilot.press(key)
        await until(pilot, lambda: app.answers)
        assert app.answers == [answer]


async def test_trust_is_not_typed_ahead() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(MenuModal(trust_menu("~/src/shop")))
        await pilot.press("y", "y")
        assert app.answers == []


async def test_a_folder_is_trusted_only_after_everything_was_seen() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        modal = MenuModal(trust_menu("~/src/shop", [f"hook {n}" for n in range(40)]))
        modal.guard = at_once()
        app.ask(modal)
        await readable(app, pilot)
        await pilot.press("y")
        await pilot.pause(0.05)
        assert app.answers == []
        await pilot.press("ctrl+end")
        await until(pilot, lambda: modal.seen_end)
        await pilot.press("y")
        await until(pilot, lambda: app.answers)
        assert app.answers == ["yes"]


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("k", PlanAnswer(answer="keep", plan="the plan")),
        ("escape", PlanAnswer(answer="keep", plan="the plan")),
        ("y", PlanAnswer(answer="default", plan="the plan")),
        ("a", PlanAnswer(answer="accept-edits", plan="the plan")),
    ],
)
async def test_a_plan_is_approved_into_a_mode_or_kept(key: str, answer: PlanAnswer) -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(PlanModal("the plan", guard=at_once()))
        await readable(app, pilot)
        await pilot.press(key)
        await until(pilot, lambda: app.answers)
        assert app.answers == [answer]


async def test_a_plan_goes_back_with_a_reason() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(PlanModal("the plan", guard=at_once()))
        await readable(app, pilot)
        await pilot.press("b")
        await until(pilot, lambda: app.focused is not None)
        await type_text(pilot, "tests first")
        await pilot.press("enter")
        await until(pilot, lambda: app.answers)
        assert app.answers == [PlanAnswer(answer="keep", plan="the plan", reason="tests first")]


async def test_a_plan_can_be_edited_and_has_to_be_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "editor.py"
    program.write_text("import pathlib, sys; pathlib.Path(sys.argv[1]).write_text('another plan')")
    monkeypatch.setenv("VISUAL", f"{sys.executable} {program}")
    app = Host()
    monkeypatch.setattr(app, "suspend", _nothing)
    async with app.run_test() as pilot:
        modal = PlanModal("the plan", guard=at_once())
        app.ask(modal)
        await readable(app, pilot)
        await pilot.press("e")
        await until(pilot, lambda: "another plan" in screen_text(app) and modal.seen_end)
        await pilot.press("y")
        await until(pilot, lambda: app.answers)
        assert app.answers == [PlanAnswer(answer="default", plan="another plan")]


@contextmanager
def _nothing():
    yield


async def test_help_scrolls_and_closes() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        app.push_screen(HelpModal([("/help", "keys [b]and[/b] commands")]), app.answers.append)
        await pilot.pause()
        assert "Shift+Enter" in screen_text(app)
        await pilot.press("pagedown", "pagedown")
        await pilot.pause()
        assert "keys [b]and[/b] commands" in screen_text(app)
        await pilot.press("escape")
        await pilot.pause()
        assert app.answers == [None]
