"""Themes, colours and sizes."""

import pytest
from textual.color import Color

from agent_cli.frontends.tui.modals.help_modal import HelpModal
from agent_cli.frontends.tui.themes import DARK, LIGHT
from tests.screens.host import Host, screen_text


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=["dark", "light"])
@pytest.mark.parametrize("ink", ["foreground", "accent", "success", "warning", "error"])
def test_every_ink_can_be_read_on_its_paper(theme: object, ink: str) -> None:
    for paper in ("background", "surface", "panel"):
        text, ground = (Color.parse(getattr(theme, name)) for name in (ink, paper))
        assert text.get_contrast_text(1).hex  # a real colour
        assert _contrast(text, ground) >= 4.0, (ink, paper)


def _contrast(one: Color, other: Color) -> float:
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    parts = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in color.normalized
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


async def test_without_colours_it_is_grey(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Host()
    async with app.run_test() as pilot:
        await pilot.press("!", "a")
        svg = app.export_screenshot()
        assert "default" in screen_text(app)
    assert DARK.accent is not None
    assert DARK.accent.lower() not in svg.lower()


@pytest.mark.parametrize("size", [(60, 20), (100, 30), (240, 70), (20, 6)])
async def test_it_stands_at_every_size(size: tuple[int, int]) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        await app.push_screen(HelpModal(()))
        await pilot.pause()
        assert len(screen_text(app).splitlines()) == size[1]
