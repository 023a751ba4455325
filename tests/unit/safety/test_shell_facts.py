"""What the analysis tells besides the decision: commands, rules, shell state, cost."""

import statistics
import time

import pytest

from agent_cli.safety.shell import (
    ShellContext,
    SimpleCommand,
    analyse,
    bash_accepts,
    place_on_disk,
    propose_rule,
)
from tests.kit.default_decision import default_effect

PLACE = ShellContext("/srv/proj", ("/srv/proj",), "/home/u")


def test_every_wrapper_level_is_a_command() -> None:
    facts = analyse("sudo -u root env X=1 timeout 5 rm -rf build", PLACE)
    assert ("rm", "-rf", "build") in [command.argv for command in facts.commands]
    assert [command.level for command in facts.commands] == [0, 1, 2, 3]
    assert facts.dangers and facts.destroys and not facts.catastrophic


def test_commands_in_scripts_and_substitutions_are_found() -> None:
    facts = analyse("echo $(curl x | sh); bash -c 'rm y'", PLACE)
    names = {command.argv[0] for command in facts.commands}
    assert {"echo", "curl", "sh", "bash", "rm"} <= names
    assert facts.touches_network and facts.unresolved


def test_a_proven_part_beside_an_unproven_one_is_known_as_such() -> None:
    facts = analyse("cd src && npm test && ls", PLACE)
    assert not facts.unresolved
    assert [bool(command.unproven) for command in facts.commands] == [False, True, False]


@pytest.mark.parametrize(
    "command", ["npm test && npm publish", "npm test; npm test; npm publish", "frob a | frob b"]
)
def test_each_command_of_a_line_needs_its_own_proof(command: str) -> None:
    """One reason for two commands is a reason for each of them: no rule for one lets both run."""
    assert all(each.unproven for each in analyse(command, PLACE).commands)


@pytest.mark.parametrize(
    "command",
    [
        "npm test > out",
        "X=1 npm test",
        "npm test $x",
        "npm test | tee `x`",
        "npm test *",
        "npm test &",
    ],
)
def test_nothing_unresolved_may_match_a_rule(command: str) -> None:
    assert analyse(command, PLACE).unresolved


def test_a_plain_command_may_match_a_rule() -> None:
    assert not analyse("npm test 2>&1 | head -5", PLACE).unresolved


def test_an_untrusted_folder_or_a_changed_shell_proves_nothing() -> None:
    for changed in ({"trusted": False}, {"shell_is_plain": False}):
        place = ShellContext("/srv/proj", ("/srv/proj",), "/home/u", **changed)
        assert default_effect(analyse("ls", place)) == "ask"


def test_git_asks_when_the_probe_finds_a_helper() -> None:
    place = ShellContext("/srv/proj", ("/srv/proj",), "/home/u", git_is_plain=False)
    assert default_effect(analyse("git status", place)) == "ask"
    nested = ShellContext("/srv/proj", ("/srv/proj",), "/home/u", probe_git="/srv/proj".__eq__)
    assert default_effect(analyse("git status", nested)) == "allow"
    assert default_effect(analyse("cd vendor/x && git status", nested)) == "ask"


def test_a_shell_outside_the_workspace_asks() -> None:
    assert default_effect(analyse("ls", ShellContext("/tmp", ("/srv/proj",), "/home/u"))) == "ask"


def test_links_and_odd_names_behind_a_pattern_are_seen(tmp_path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.md").write_text("x")
    place = place_on_disk(ShellContext(str(work), (str(work),), "/home/u"))
    assert default_effect(analyse("cat *.md", place)) == "allow"
    (work / "b.md").symlink_to("/etc/passwd")
    assert default_effect(analyse("cat *.md", place)) == "ask"
    assert default_effect(analyse("grep x *", place)) == "ask"
    (work / "b.md").unlink()
    (work / "-f").write_text("x")
    assert default_effect(analyse("grep x *", place)) == "ask"
    (work / "key.pem").write_text("x")
    assert default_effect(analyse("cat ./*", place)) == "ask"


@pytest.mark.parametrize(
    ("argv", "rule"),
    [
        ("npm run test", "npm run test ./**"),
        ("npm run test -- -x", "npm run test ./**"),
        ("npm run test --prefix=/tmp/x", "npm run test --prefix=/tmp/x"),
        ("cargo build --release", "cargo build ./**"),
        ("cargo build --config=x", "cargo build --config=x"),
        ("pytest -q tests", "pytest ./**"),
        ("pytest --basetemp=/home/u tests", "pytest --basetemp=/home/u tests"),
        ("pytest ../other", "pytest ../other"),
        ("prettier --check .", "prettier --check ./**"),
        ("prettier --write .", "prettier --write ."),
        ("tsc --noEmit", "tsc --noEmit ./**"),
        ("go vet -vettool=x", "go vet -vettool=x"),
        ("make lint", "make lint"),
        ("make -f x", "make -f x"),
        ("go run .", "go run ."),
        ("cargo install x", "cargo install x"),
        ("cmake --build .", "cmake --build ."),
        ("poetry run pytest", "poetry run pytest ./**"),
        ("poetry run python x.py", None),
        ("mytool a b", "mytool a b"),
        ("git commit -m x", "git commit -m x"),
        ("npm", "npm"),
        *(
            (command, None)
            for command in (
                "bash x", "python x.py", "python3.12 x", "sudo ls", "env ls", "xargs ls", "rm x",
                "find . -exec x", "curl x", "git push", "git -C x log", "./x.sh", "node x",
                "timeout 5 ls", "tool .env", "tool .git/hooks/x", "tool a;b", "docker run x", "sh",
                "npx x", "ssh x", "kill 1", "eval x", "tool --out=.vscode/settings.json",
            )
        ),
    ],
)  # fmt: skip
def test_the_narrowest_useful_rule_is_proposed(argv: str, rule: str | None) -> None:
    command = SimpleCommand(tuple(argv.split()), argv)
    assert propose_rule(command, "/home/u", "/srv/proj") == rule


def test_no_rule_is_proposed_for_what_is_not_known() -> None:
    assert propose_rule(SimpleCommand(("npm", "test"), "", known=False)) is None
    assert propose_rule(SimpleCommand(("npm", "test"), "", level=1)) is None


def test_odd_characters_are_named() -> None:
    assert "U+202E" in str(analyse("ls \u202ex", PLACE).unproven[0])


def test_an_ordinary_command_is_read_quickly() -> None:
    command = (
        "cd /srv/proj && git log --oneline -n 20 -- src/main.py | grep -i 'fix' | head -20; "
        'rg -n --type py "class Foo" src tests | sort -t: -k2 -rn | head -5; ls -la src docs tests'
    )
    analyse(command, PLACE)
    times = []
    for _ in range(50):
        start = time.process_time()
        analyse(command, PLACE)
        times.append(time.process_time() - start)
    # The goal is one millisecond; a busy machine gets some room.
    assert statistics.median(times) < 0.004


@pytest.mark.parametrize(
    "unit", ["a", "ls;", "'", "$(", "`", "{,", "((", "\\", "${a:-", "<<A ", "env "]
)
def test_a_huge_command_asks_in_reasonable_time(unit: str) -> None:
    start = time.process_time()
    facts = analyse(unit * (100_000 // len(unit)), PLACE)
    assert default_effect(facts) == "ask"
    assert time.process_time() - start < 20


@pytest.mark.parametrize("end", ["?", "[x]", "*", "$HOME", "{a,b}", "\\ x", '"x"', "~"])
def test_a_long_word_is_read_at_once(end: str) -> None:
    start = time.process_time()
    analyse(f"cat {'a/b.c-' * 1000}{end}", PLACE)
    assert time.process_time() - start < 5


def test_long_chains_and_deep_nesting_do_not_exhaust_the_reader() -> None:
    assert default_effect(analyse("ls && " * 1200 + "ls", PLACE)) == "allow"
    assert default_effect(analyse("ls | " * 1200 + "cat", PLACE)) == "allow"
    for unit in ("(", "{ ", "if ", "! ", "bash -c '", "$(cat <<A\n", "f(){ ", "time "):
        assert default_effect(analyse(unit * 700, PLACE)) == "ask"


def test_the_catastrophic_is_found_behind_much_text() -> None:
    for before in ("true;" * 20_000, "bash -c true;" * 2000, "$(true);" * 2000):
        assert default_effect(analyse(before + "bash -c 'rm -rf /'", PLACE)) == "deny"
        assert default_effect(analyse("bash -c 'rm -rf /';" + before, PLACE)) == "deny"


def test_a_text_that_grows_by_itself_asks() -> None:
    assert default_effect(analyse("X='eval $X $X'; eval $X", PLACE)) == "ask"


def test_bash_refuses_what_only_the_parser_accepts() -> None:
    assert not bash_accepts("ls;;") and bash_accepts("ls")


@pytest.mark.parametrize(
    "command",
    [
        r"find . -exec rm {} \;",
        "find . -execdir rm {} +",
        "fd -x rm",
        "git bisect run rm x",
        "git submodule foreach 'rm x'",
        "alias a='rm x'",
        "`echo rm` x",
        "bash <(echo 'rm x')",
    ],
)
def test_commands_inside_other_commands_are_seen_by_deny_rules(command: str) -> None:
    place = ShellContext("/srv/proj", ("/srv/proj",), "/home/u")
    assert any(each.argv[:1] == ("rm",) for each in analyse(command, place).commands)


@pytest.mark.parametrize(
    "command", ["git log -L1,5:.env", "git show :0:id_rsa", "grep -r --include=.env KEY ."]
)
def test_secrets_named_in_options_cannot_be_lifted_by_a_rule(command: str) -> None:
    place = ShellContext("/srv/proj", ("/srv/proj",), "/home/u")
    assert analyse(command, place).sensitive


@pytest.mark.parametrize(
    "command", ["cat < /dev/tcp/127.0.0.1/80", "cat /proc/1/cmdline", "cat dev/tcp/a/1"]
)
def test_a_workspace_of_everything_holds_no_devices(command: str) -> None:
    place = ShellContext("/", ("/",), "/home/u")
    assert default_effect(analyse("cat etc/hostname", place)) == "allow"
    assert default_effect(analyse(command, place)) == "ask"


@pytest.mark.parametrize(
    "line", ["rm a; rm b", "touch a && touch b", "rm a; { rm b; }", "rm a | rm b"]
)
def test_each_command_has_its_own_doubts_also_the_same_ones(line: str) -> None:
    facts = analyse(line, PLACE)
    assert all(command.unproven for command in facts.commands)
    assert len(set(facts.unproven)) == len(facts.unproven)
