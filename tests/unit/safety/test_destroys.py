"""What the analysis hands on to be counted before it happens."""

import pytest

from agent_cli.safety.shell import Destruction, ShellContext, analyse


def destroys(command: str) -> tuple[Destruction, ...]:
    return analyse(command, ShellContext("/w", ("/w",), "/h")).destroys


@pytest.mark.parametrize(
    ("command", "globs"),
    [
        ("rm *", [("*", "*")]),
        ("rm '*'", [("*", "[*]")]),
        (r"rm a\?*", [("a?*", "a[?]*")]),
        ("rm '*' *", [("*", "[*]"), ("*", "*")]),
        ("rm {a,b}*", [("a*", "a*"), ("b*", "b*")]),
        ("rm ~/*", [("/h/*", "/h/*")]),
        ("rm plain", []),
    ],
)
def test_wildcards_are_told_from_quoted_ones(command: str, globs: list[tuple[str, str]]) -> None:
    (found,) = destroys(command)
    assert list(found.globs) == globs


@pytest.mark.parametrize(
    ("command", "verbs"),
    [
        ("echo > a", [">"]),
        ("echo >> a", [">>"]),
        ("echo &>> a", [">>"]),
        ("echo >| a 2>/dev/null", [">"]),
        ("sort a > b 2>> c", [">", ">>"]),
        ("git branch -D x", ["git branch"]),
        ("git status", []),
        ("perl -pi -e s/a/b/ f", ["perl"]),
        ("perl -e 1 f", []),
        ("find . -name x", []),
        ("find . -okdir rm {} +", ["find"]),
        ("ln -sf a b && install a b", ["ln", "install"]),
    ],
)
def test_each_way_to_destroy_has_its_verb(command: str, verbs: list[str]) -> None:
    assert [found.verb for found in destroys(command)] == verbs


@pytest.mark.parametrize(
    ("command", "hidden"),
    [
        ("ls | xargs rm -f a", "names_from_command"),
        ("ssh host 'rm -rf a'", "runs_elsewhere"),
        ("ssh host \"bash -c 'rm -rf a'\"", "runs_elsewhere"),
        ("sudo chroot /x rm -rf a", "runs_elsewhere"),
        ("sudo rm -rf a", ""),
        ("for f in a b; do rm $f; done", ""),
        ('for f in a b; do rm "$f"; done', "names_from_loop"),
        ("for f in a b; do rm build/$f; done", "names_from_loop"),
        ("for f in a b; do rm ${f%.o}; done", "names_from_loop"),
        ("for f in a b; do echo $f; done; rm c", ""),
        ('f=a; rm "$f"', ""),
    ],
)
def test_what_the_words_do_not_tell_is_marked(command: str, hidden: str) -> None:
    (found,) = (found for found in destroys(command) if found.verb == "rm")
    assert (found.hidden.code if found.hidden else "") == hidden
