"""Diffs that patch understands, in bounded time."""

import time

from hypothesis import given
from hypothesis import strategies as st

from agent_cli.tools._diffs import diff_block

LINES = st.lists(st.sampled_from("abc"), max_size=25)


def applied(before: list[str], diff: str) -> list[str]:
    """The old lines with the diff applied."""
    result: list[str] = []
    position = 0
    for line in diff.split("\n")[2:]:
        if line.startswith("@@"):
            first, _, count = line.split()[1][1:].partition(",")
            start = int(first) - (0 if count == "0" else 1)
            result += before[position:start]
            position = start
        elif line[0] in " -":
            assert before[position] == line[1:]
            position += 1
            result += [line[1:]] if line[0] == " " else []
        else:
            result.append(line[1:])
    return result + before[position:]


@given(LINES, LINES)
def test_a_diff_turns_the_old_lines_into_the_new(old: list[str], new: list[str]) -> None:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    block = diff_block("f", before, after)
    if block.diff:
        assert applied(old, block.diff) == new
    else:
        assert old == new
    assert block.added - block.removed == len(new) - len(old)


def test_a_missing_last_line_break_is_shown() -> None:
    assert diff_block("f", "a\nb", "a\nb\n").diff.endswith("-b\n\\ No newline at end of file\n+b")


def test_line_breaks_are_shown_when_they_change() -> None:
    assert "-a␍\n+a" in diff_block("f", "a\r\n", "a\n").diff
    assert "␍" not in diff_block("f", "a\r\n", "b\r\n").diff


def test_far_changes_stand_in_hunks_of_their_own() -> None:
    before = "".join(f"{n}\n" for n in range(100))
    after = before.replace("10\n", "ten\n", 1).replace("90\n", "ninety\n", 1)
    assert diff_block("f", before, after).diff.count("@@ -") == 2


def test_equal_lines_in_thousands_take_no_time() -> None:
    start = time.monotonic()
    diff_block("f", "x\n" * 1_900, "x\ny\n" * 950)
    diff_block("f", "x\n" * 1_000_000, "x\n" * 999_999)
    assert time.monotonic() - start < 5
