"""The flags of the command line."""

import pytest

from agent_cli.flags import parser


@pytest.mark.parametrize("given", [["--mode", "plan"], ["serve", "--mode", "plan"]])
def test_a_flag_is_not_guessed_from_its_beginning(given: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        parser(given).parse_args(given)
