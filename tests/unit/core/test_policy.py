"""The decision, as a pure function."""

from dataclasses import replace

import pytest

from agent_cli.core.deciding.rules import CommandFact, Facts, PathFact, PatternBase, Rule, Rules
from agent_cli.core.errors import UserError
from agent_cli.core.policy import Decision, Effect, Mode, Policy, decide
from agent_cli.core.tool import ToolKind
from agent_cli.safety.reasons import quote_value

PLACE = PatternBase(root="/srv/proj", home="/home/u")


def bash(*argv: str, **more: object) -> Facts:
    facts = {"unproven": ("it may change something",), "needs_permission": True, **more}
    return Facts(tool="Bash", kind=ToolKind.EXECUTE, commands=(CommandFact(argv),), **facts)  # type: ignore[arg-type]


def file(tool: str, path: str, **more: object) -> Facts:
    is_write = tool != "Read"
    fact = PathFact(path, path, "write" if is_write else "read", **more)  # type: ignore[arg-type]
    return Facts(
        tool=tool,
        kind=ToolKind.WRITE if is_write else ToolKind.READONLY,
        needs_permission=is_write,
        paths=(fact,),
        unproven=(quote_value("it changes files"),) if is_write else (),
    )


def effect(facts: Facts, mode: Mode = Mode.DEFAULT, *, trusted: bool = True, **rules: list[str]) -> Effect:  # fmt: skip
    return decision(facts, mode, trusted=trusted, **rules).effect


def decision(facts: Facts, mode: Mode = Mode.DEFAULT, *, trusted: bool = True, **rules: list[str]) -> Decision:  # fmt: skip
    return decide(facts, Policy(PLACE, Rules.parse(**rules), mode, trusted=trusted))


@pytest.mark.parametrize("mode", Mode)
def test_the_catastrophic_is_denied_in_every_mode_and_by_no_rule_allowed(mode: Mode) -> None:
    facts = bash("rm", "-rf", "/", catastrophic=(quote_value("it deletes everything"),))
    assert effect(facts, mode, allow=["Bash"]) is Effect.DENY


@pytest.mark.parametrize("mode", Mode)
def test_our_own_policy_files_are_never_written(mode: Mode) -> None:
    assert (
        effect(file("Edit", "/x", forbidden=quote_value("our own")), mode, allow=["Edit"])
        is Effect.DENY
    )


@pytest.mark.parametrize("mode", Mode)
def test_a_deny_rule_wins_in_every_mode(mode: Mode) -> None:
    rules = {"allow": ["Bash(git push *)"], "deny": ["Bash(git push --force *)"]}
    assert effect(bash("git", "push", "--force", "x"), mode, **rules) is Effect.DENY


def test_a_deny_rule_matches_a_program_by_its_path_too() -> None:
    assert effect(bash("/bin/rm", "x"), Mode.YOLO, deny=["Bash(rm *)"]) is Effect.DENY


def test_a_deny_rule_about_a_path_holds_for_every_tool() -> None:
    facts = bash("cat", "secret/x")
    facts = Facts(**{**vars(facts), "paths": (PathFact("secret/x", "/srv/proj/secret/x", "read"),)})
    assert effect(facts, Mode.YOLO, deny=["Read(secret/**)"]) is Effect.DENY


def test_an_ask_rule_asks_even_in_yolo_mode() -> None:
    assert effect(bash("git", "push"), Mode.YOLO, ask=["Bash(git push)"]) is Effect.ASK


def test_modes() -> None:
    edit, run, read = file("Edit", "/srv/proj/a"), bash("make"), file("Read", "/srv/proj/a")
    table = {
        Mode.DEFAULT: (Effect.ASK, Effect.ASK, Effect.ALLOW),
        Mode.ACCEPT_EDITS: (Effect.ALLOW, Effect.ASK, Effect.ALLOW),
        Mode.PLAN: (Effect.DENY, Effect.DENY, Effect.ALLOW),
        Mode.YOLO: (Effect.ALLOW, Effect.ALLOW, Effect.ALLOW),
    }
    for mode, expected in table.items():
        assert (effect(edit, mode), effect(run, mode), effect(read, mode)) == expected


def test_what_is_proven_needs_no_question_in_a_trusted_folder() -> None:
    facts = bash("ls", unproven=(), needs_permission=False)
    assert effect(facts) is Effect.ALLOW
    assert effect(facts, trusted=False) is Effect.ASK


@pytest.mark.parametrize(
    ("rule", "argv", "matches"),
    [
        ("Bash(git log *)", ("git", "log", "-1"), True),
        ("Bash(git log *)", ("git", "log"), True),
        ("Bash(git log *)", ("git", "logout"), False),
        ("Bash(git log)", ("git", "log", "-1"), False),
        ("Bash(npm run test)", ("npm", "run", "test"), True),
        ("Bash(npm run 'a b')", ("npm", "run", "a b"), True),
        ("Bash(npm run *)", ("npm", "install"), False),
        ("Bash", ("anything",), True),
        ("Ba*", ("anything",), True),
        ("Read", ("anything",), False),
    ],
)
def test_a_rule_matches_words(rule: str, argv: tuple[str, ...], matches: bool) -> None:
    assert (effect(bash(*argv), allow=[rule]) is Effect.ALLOW) == matches


def test_an_allow_rule_must_match_every_command() -> None:
    facts = Facts(
        tool="Bash",
        kind=ToolKind.EXECUTE,
        needs_permission=True,
        unproven=(quote_value("x"),),
        commands=(CommandFact(("npm", "test")), CommandFact(("rm", "x"))),
    )
    assert effect(facts, allow=["Bash(npm test)"]) is Effect.ASK
    assert effect(facts, allow=["Bash(npm test)", "Bash(rm x)"]) is Effect.ALLOW


def test_no_allow_rule_matches_what_could_not_be_read_for_certain() -> None:
    for rule in ("Bash", "Bash(npm *)"):
        assert effect(bash("npm", "test", unresolved=True), allow=[rule]) is Effect.ASK


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("docs/**", "/srv/proj/docs/a/b.md", True),
        ("docs/**", "/srv/proj/docs", True),
        ("docs/**", "/srv/proj/docs-evil/x", False),
        ("docs/", "/srv/proj/docs/x", True),
        ("*.md", "/srv/proj/a.md", True),
        ("*.md", "/srv/proj/docs/a.md", False),
        ("**/*.md", "/srv/proj/docs/a.md", True),
        ("./a.md", "/srv/proj/a.md", True),
        ("a?.md", "/srv/proj/ab.md", True),
        ("a[b].md", "/srv/proj/ab.md", False),
    ],
)
def test_a_path_pattern_matches_paths(pattern: str, path: str, matches: bool) -> None:
    assert (effect(file("Edit", path), allow=[f"Edit({pattern})"]) is Effect.ALLOW) == matches


def test_an_edit_rule_covers_every_tool_that_writes_files() -> None:
    assert effect(file("Write", "/srv/proj/docs/a"), allow=["Edit(docs/**)"]) is Effect.ALLOW


def test_an_allow_rule_lifts_outside_but_neither_secret_nor_protected() -> None:
    rule = ["Edit(/etc/x)", "Edit(~/notes/**)"]
    assert effect(file("Edit", "/etc/x", outside=True), allow=rule) is Effect.ALLOW
    assert effect(file("Edit", "/home/u/notes/a", outside=True), allow=rule) is Effect.ALLOW
    assert effect(file("Edit", "/etc/y", outside=True), allow=rule) is Effect.ASK
    assert (
        effect(file("Edit", "/etc/x", outside=True, protected=quote_value("p")), allow=rule)
        is Effect.ASK
    )
    assert effect(file("Edit", "/etc/x", secret=quote_value("s")), allow=rule) is Effect.ASK


def test_accept_edits_stops_at_the_workspaces_border() -> None:
    outside = file("Edit", "/etc/hosts", outside=True)
    assert effect(outside, Mode.ACCEPT_EDITS) is Effect.ASK
    protected = file("Edit", "/srv/proj/.git/config", protected=quote_value("runs code"))
    assert effect(protected, Mode.ACCEPT_EDITS) is Effect.ASK
    assert "runs code" in str(decision(protected, Mode.ACCEPT_EDITS).reasons[0])


@pytest.mark.parametrize("text", ["", "Bash(", "rm -rf", "Bash()", "Bash(* x)", "Bash('x)"])
def test_a_rule_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        Rule.parse(text)


def test_dangerous_commands_can_be_let_through_but_nothing_else_is() -> None:
    def without_question(facts: Facts, **how: object) -> Effect:
        how = {"trusted": True, "ask_dangerous": False, **how}
        return decide(facts, Policy(PLACE, **how)).effect  # type: ignore[arg-type]

    removal = bash("rm", "-rf", "build", dangers=(quote_value("it deletes"),))
    assert effect(removal) is Effect.ASK
    assert without_question(removal) is Effect.ALLOW
    assert without_question(bash("make")) is Effect.ALLOW
    assert without_question(removal, trusted=False) is Effect.ASK
    assert without_question(removal, mode=Mode.PLAN) is Effect.DENY
    assert without_question(removal, rules=Rules.parse(ask=["Bash(rm *)"])) is Effect.ASK
    assert (
        without_question(bash("rm", "x", sensitive=(quote_value("x is protected"),))) is Effect.ASK
    )
    assert without_question(bash("rm", "x", unresolved=True)) is Effect.ASK
    assert (
        without_question(bash("rm", "/", catastrophic=(quote_value("all of it"),))) is Effect.DENY
    )
    assert without_question(file("Edit", "/srv/proj/a")) is Effect.ASK


def host(tool: str, *names: str, **more: object) -> Facts:
    facts = {"unproven": ("it talks to somebody",), "needs_permission": True, **more}
    return Facts(tool=tool, kind=ToolKind.READONLY, hosts=names, **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "matches"),
    [
        ("WebFetch(docs.python.org)", True),
        ("WebFetch(domain:docs.python.org)", True),
        ("WebFetch(*.python.org)", True),
        ("WebFetch", True),
        ("WebFetch(python.org)", False),
        ("WebFetch(docs.python.org.evil.example)", False),
        ("WebFetch(*.docs.python.org)", False),
        ("HttpRequest(docs.python.org)", False),
        ("Read(docs.python.org)", False),
        ("Read(**)", False),
    ],
)
def test_a_host_is_allowed_by_its_own_tools_rules_only(rule: str, matches: bool) -> None:
    wanted = Effect.ALLOW if matches else Effect.ASK
    assert effect(host("WebFetch", "docs.python.org"), allow=[rule]) is wanted


def test_all_hosts_of_a_call_must_be_allowed() -> None:
    both = host("WebFetch", "a.example", "b.example")
    assert effect(both, allow=["WebFetch(a.example)"]) is Effect.ASK
    assert effect(both, allow=["WebFetch(a.example)", "WebFetch(b.example)"]) is Effect.ALLOW
    assert effect(both, deny=["WebFetch(b.example)"], allow=["WebFetch"]) is Effect.DENY


def test_what_a_tool_calls_dangerous_is_allowed_by_its_name_only() -> None:
    call = host("HttpRequest", "a.example", only_by_name=True, dangers=(quote_value("dangerous"),))
    assert effect(call, allow=["HttpRequest(a.example)"]) is Effect.ASK
    assert effect(call, allow=["HttpRequest"]) is Effect.ALLOW
    for mode in (Mode.ACCEPT_EDITS, Mode.AUTO):
        edit = replace(file("SqlQuery", "/srv/proj/data.db"), only_by_name=True)
        assert effect(edit, mode, allow=["Edit(data.db)"]) is Effect.ASK
