"""Unified diffs taken apart for editors."""

import difflib

from hypothesis import given
from hypothesis import strategies as st

from agent_cli.frontends.acp.diffs import hunks
from agent_cli.tools._diffs import diff_block

TEXTS = st.lists(
    st.sampled_from(["a", "b", "", "-- x", "++ y", "@@ -1 +1 @@", "\\ no"]), max_size=30
)


def test_each_place_that_changed_is_a_hunk_of_its_own() -> None:
    before = "".join(f"{n}\n" for n in range(40))
    after = before.replace("5\n", "five\n", 1).replace("30\n", "thirty\n")
    first, second = hunks(diff_block("a.txt", before, after).diff, "a.txt")
    assert first.old_text == "2\n3\n4\n5\n6\n7\n8\n"
    assert first.new_text == "2\n3\n4\nfive\n6\n7\n8\n"
    assert (first.line, second.line) == (3, 28)


def test_a_new_file_has_no_text_before() -> None:
    (hunk,) = hunks(diff_block("new.txt", "", "x\ny").diff, "new.txt")
    assert (hunk.path, hunk.old_text, hunk.new_text) == ("new.txt", None, "x\ny")


def test_several_files_in_one_diff_keep_their_names() -> None:
    diff = "--- a\n+++ a\n@@ -1,1 +1,1 @@\n--- x\n+++ y\n--- b\n+++ b\n@@ -3,1 +3,0 @@\n-z\n… more"
    first, second = hunks(diff, "2 files")
    assert (first.path, first.old_text, first.new_text) == ("a", "-- x\n", "++ y\n")
    assert (second.path, second.old_text, second.new_text) == ("b", "z\n", "")


@given(TEXTS, TEXTS, st.booleans(), st.booleans())
def test_the_hunks_turn_the_one_text_into_the_other(
    old: list[str], new: list[str], old_ends: bool, new_ends: bool
) -> None:
    before = "\n".join(old) + ("\n" if old_ends and old else "")
    after = "\n".join(new) + ("\n" if new_ends and new else "")
    found = list(hunks(diff_block("f", before, after).diff, "f"))
    lines = after.splitlines(keepends=True)
    for hunk in found:
        changed = hunk.new_text.splitlines(keepends=True)
        assert lines[hunk.line - 1 : hunk.line - 1 + len(changed)] == changed
        assert (hunk.old_text or "") in before
    ratio = difflib.SequenceMatcher(None, before, after).ratio()
    assert bool(found) == (ratio < 1 and before != after)
