"""Completing commands and files."""

from pathlib import Path

import pytest

from tests.kit.shells import until
from tests.screens.host import Host, screen_text, type_text


async def test_a_slash_offers_the_commands() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await pilot.press("/")
        await pilot.pause()
        shown = screen_text(app)
        assert "/help" in shown
        assert "keys and commands" in shown
        assert "/mode <mode>" in shown


async def test_enter_runs_a_command_that_needs_nothing_more() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await pilot.press("/", "h", "enter")
        assert [event.text.strip() for event in app.sent] == ["/help"]


async def test_enter_waits_for_what_a_command_needs() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await type_text(pilot, "/mode")
        await pilot.press("down", "tab")
        assert (app.prompt.text, app.sent) == ("/mode ", [])
        await type_text(pilot, "plan")
        await pilot.press("enter")
        assert app.sent[0].text == "/mode plan"


async def test_arrows_choose_and_tab_completes() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await pilot.press("/", "down", "tab")
        assert (app.prompt.text, app.sent) == ("/model ", [])
        assert not app.composer.is_open


async def test_esc_closes_the_list_and_only_that() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await pilot.press("/", "escape")
        assert (app.prompt.text, app.heard) == ("/", [])
        assert not app.composer.is_open
        await pilot.press("escape")
        assert app.heard == ["escaped"]
        await pilot.press("q")
        await pilot.pause()
        assert app.composer.is_open


async def test_an_unknown_command_is_sent_as_it_is() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await type_text(pilot, "/nonsense")
        await pilot.press("enter")
        assert app.sent[0].text == "/nonsense"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("app.py", "docs/guide.md", "my file.txt", "[b]bold[@click=app.quit].py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    return tmp_path


async def loaded(app: Host) -> None:
    """Wait for the file names instead of for some time."""
    await app.composer.files.load()


async def test_an_at_sign_offers_files_and_enter_takes_one(project: Path) -> None:
    app = Host(project)
    async with app.run_test() as pilot:
        await loaded(app)
        await type_text(pilot, "see @gd")
        await pilot.press("enter", "x", "enter")
        assert app.sent[0].text == "see @docs/guide.md x"


async def test_a_name_with_spaces_is_quoted(project: Path) -> None:
    app = Host(project)
    async with app.run_test() as pilot:
        await loaded(app)
        await type_text(pilot, "@myf")
        await pilot.press("tab", "enter")
        assert app.sent[0].text == '@"my file.txt" '


async def test_a_name_is_never_markup(project: Path) -> None:
    app = Host(project)
    async with app.run_test() as pilot:
        await loaded(app)
        await type_text(pilot, "@bold")
        await pilot.pause()
        assert "[b]bold[@click=app.quit].py" in screen_text(app)


async def test_the_list_moves_nothing(project: Path) -> None:
    app = Host(project)
    async with app.run_test(size=(60, 20)) as pilot:
        await loaded(app)
        before = app.composer.region
        await pilot.press("@")
        await pilot.pause()
        assert app.composer.completion.is_open
        assert app.composer.region == before
        list_ = app.composer.completion.region
        assert list_.bottom == app.prompt.region.y


async def test_an_address_in_a_mail_is_no_file(project: Path) -> None:
    app = Host(project)
    async with app.run_test() as pilot:
        await loaded(app)
        await type_text(pilot, "me@app")
        await pilot.pause()
        assert not app.composer.is_open


async def test_the_names_are_read_when_they_are_needed(project: Path) -> None:
    app = Host(project)
    async with app.run_test() as pilot:
        await pilot.press("@")
        await until(lambda: "docs/guide.md" in screen_text(app))


async def test_typing_stays_quick_with_a_hundred_thousand_files(project: Path) -> None:
    app = Host(project)
    names = [f"src/package_{n % 300}/module_{n}/file_{n}.py" for n in range(100_000)]
    async with app.run_test() as pilot:
        app.composer.files.use(names)
        app.composer._loaded_at = float("inf")
        await type_text(pilot, "@file_99999")
        await pilot.press("tab")
        assert app.prompt.text == f"@{names[99_999]} "
