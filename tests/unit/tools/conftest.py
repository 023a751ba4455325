"""Fixtures for the tools' own tests."""

from pathlib import Path

import pytest

from tests.kit.hands import Hands


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    """Calls tools in an empty workspace."""
    workspace = tmp_path / "ws"
    workspace.mkdir()
    return Hands(workspace)
