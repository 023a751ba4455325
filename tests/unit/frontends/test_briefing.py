"""What a person is told before a decision."""

from agent_cli.core.display import DiffBlock
from agent_cli.core.inbox import ApprovalRequest
from agent_cli.frontends.shared.approval_text import diff_body, facts

CHANGE = DiffBlock(
    path="/src/shop/app/auth.py",
    diff="--- a\n+++ b\n@@ -1,6 +1,6 @@\n \n def f():\n \n-    old\n+    \n \n \n@@ -20,2 +20,2 @@\n \n-x\n+y\n",
    added=2,
    removed=2,
)


def request(*targets: str, directory: str = "/src/shop") -> ApprovalRequest:
    return ApprovalRequest(
        id="1",
        call_id="1",
        tool="Edit",
        title="app/auth.py",
        reasons=("it is not read-only",),
        targets=targets,
        preview=CHANGE,
        directory=directory,
    )


def test_a_diff_has_no_blank_context_at_the_ends_of_its_hunks() -> None:
    assert diff_body(CHANGE).split("\n") == [
        "@@ -1,6 +1,6 @@",
        " def f():",
        " ",
        "-    old",
        "+    ",
        "@@ -20,2 +20,2 @@",
        "-x",
        "+y",
    ]


def test_the_file_that_stands_above_its_diff_is_not_named_again() -> None:
    assert [fact.label for fact in facts(request("app/auth.py"), "")] == ["Asked because"]
    told = [fact.text for fact in facts(request("app/auth.py", "other.py"), "")]
    assert told == ["other.py", "it is not read-only"]
    elsewhere = facts(request("app/auth.py", directory="/tmp"), "")
    assert next(elsewhere).text == "app/auth.py"
