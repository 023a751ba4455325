"""What a command leaves in the shell is known to whoever decides about the next one."""

import pytest

from tests.kit.shells import Bench


def told(bench: Bench) -> tuple[str, ...]:
    standing = bench.standing
    functions = tuple(f"function {name}" for name in standing.functions)
    return (*standing.altered_by, *functions, *(f"PATH {each}" for each in standing.programs))


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("ls() { rm -rf ~; }", "function ls"),
        ("function git { :; }", "function git"),
        ("alias ls='rm -rf ~'", "alias ls"),
        ("BASH_ALIASES[ls]=rm", "alias ls"),
        ("PATH=/nowhere", "PATH"),
        ("export PATH=$PWD:$PATH", "PATH"),
        ("export GIT_EXTERNAL_DIFF=./evil", "GIT_EXTERNAL_DIFF"),
        ("declare -x LD_PRELOAD=./evil.so", "LD_PRELOAD"),
        ("typeset -gx BASH_ENV=evil", "BASH_ENV"),
        ("read -r IFS <<<x", "IFS"),
        ("printf -v CDPATH /", "CDPATH"),
        (": ${PROMPT_COMMAND:=x}", "PROMPT_COMMAND"),
        ("unset GIT_PAGER", "GIT_PAGER"),
        ("export RUSTUP_TOOLCHAIN=$PWD", "RUSTUP_TOOLCHAIN"),
        ("export OPENSSL_CONF=$PWD/x", "OPENSSL_CONF"),
        ("export PHP_INI_SCAN_DIR=$PWD", "PHP_INI_SCAN_DIR"),
        ("GOTOOLCHAIN=go1.99", "GOTOOLCHAIN"),
        ("PS1='$(rm x)'", "PS1 holds shell code"),
        ("command_not_found_handle() { rm x; }", "function command_not_found_handle was defined"),
        ("ls() { :; }; export -f ls", "function ls was defined"),
        ("unset GIT_CONFIG_COUNT", "GIT_CONFIG_COUNT"),
        ("HOME=$PWD", "HOME"),
        ("LESSOPEN='|evil %s'", "LESSOPEN"),
        ("x='a[$(rm x)]'", "x holds shell code"),
        ("m=(1 '`rm x`')", "m holds shell code"),
        ("ls() { :; }; declare() { :; }", "function ls"),
        ("alias ls=rm; alias() { :; }", "alias ls"),
        ("eval 'l'\"s() { :; }\"", "function ls"),
        ("ls() { :; }; exit 1", "function ls"),
        ("set -e; PATH=/x; false", "PATH"),
        ("source ./file", "function sourced"),
        ("ls() { :; }; readonly -f ls", "function ls"),
    ],
)
async def test_what_changes_the_meaning_of_words_is_named(
    bench: Bench, command: str, word: str
) -> None:
    (bench.root / "file").write_text("sourced() { :; }\n", encoding="utf-8")
    await bench.bash(command)
    assert any(word in reason for reason in told(bench)), told(bench)
    await bench.bash("true")
    assert any(word in reason for reason in told(bench))


@pytest.mark.parametrize(
    "command",
    [
        "true", "cd /", "x=1; export Y='a b' DJANGO_SETTINGS=x.y NODE_ENV=test", "false", "exit 3",
        "for i in 1 2; do :; done", "set -euo pipefail", "shopt -s globstar", "PATH=/x true",
        "(PATH=/x; ls() { :; })", "bash -c 'ls() { :; }'", "echo x | read y", "if", "a=(1 2)",
        "hash -p /bin/rm ls", "enable -n echo", "trap 'x' EXIT", "ls() { :; }; unset -f ls",
        "ulimit -c 0", "umask 077", "coproc cat", "select x in 1; do :; done", "getopts a x -a",
        "sleep 0.01 & wait", "printf 'a\\n' | mapfile -t lines", "[[ a =~ a ]]", "exec 5>&1",
    ],
)  # fmt: skip
async def test_what_changes_no_meaning_is_not_named(bench: Bench, command: str) -> None:
    await bench.bash(command)
    assert told(bench) == ()


@pytest.mark.parametrize("command", ["hash -p /bin/rm ls", "enable -n ls", "enable -f x y"])
async def test_what_cannot_be_seen_does_not_reach_the_next_command(
    bench: Bench, command: str
) -> None:
    await bench.bash("touch here")
    await bench.bash(command)
    assert await bench.says("ls") == "here"


async def test_the_directory_is_known(bench: Bench) -> None:
    assert bench.standing.directory is None
    await bench.bash("mkdir -p a/b && ln -s a/b link && cd link")
    assert bench.standing.directory == f"{bench.root}/link"
    assert await bench.says("pwd") == f"{bench.root}/link"


async def test_many_functions_are_counted(bench: Bench) -> None:
    await bench.bash('for i in {1..30}; do eval "f$i() { echo $i; }"; export -f f$i; done')
    (reason,) = bench.standing.altered_by
    assert reason.endswith("and 25 more were defined")
    assert await bench.says("f7; f30") == "7\n30"


async def test_functions_come_back_as_they_were(bench: Bench) -> None:
    await bench.bash(
        'f() { cat <<X\ng () \n{ \nX\n}; g() ( echo "in $1" ) >&2\n'
        "h-i.j() { if true; then echo h; fi; }\n"
        "k() { echo k; }; l() { echo l; }; m() { echo m; }; export -f k l"
    )
    assert await bench.says(
        "f; g x; h-i.j; bash -c 'k; l'; m; bash -c 'type f' 2>/dev/null || echo no"
    ) == ("g () \n{ \nin x\nh\nk\nl\nm\nno")


async def test_a_fresh_shell_is_to_be_had(bench: Bench) -> None:
    await bench.bash("ls() { :; }; cd /")
    bench.shell.reset(bench.standing, bench.view.workspace)
    assert bench.standing.altered_by == ()
    assert bench.standing.functions == frozenset()
    assert await bench.says("pwd; type -t ls") == f"{bench.root}\nfile"


@pytest.mark.parametrize(
    "command",
    [
        "PATH=$PWD/bin",
        "PATH=$PATH:$PWD/bin",
        "PATH=bin:$PATH",
        "PATH=:$PATH",
        "PATH=$PWD/out:$PATH",
        "PATH=$PWD/../x:$PATH",
        "PATH=$PWD/bin::$PATH",
        "PATH=$PWD/bin:$PATH; export -n PATH",
        "PATH=$PWD/bin:$PATH; declare -l PATH",
        "PATH=$PWD/bin:/tmp:$PATH",
        "PATH=$PWD/bin:$PATH; unset PATH",
    ],
)
async def test_only_directories_of_the_project_before_the_path_are_told_apart(
    bench: Bench, command: str
) -> None:
    (bench.root / "bin").mkdir()
    (bench.root / "out").symlink_to("/usr/bin")
    await bench.bash(command)
    assert bench.standing.programs == ()
    assert any("PATH" in reason for reason in bench.standing.altered_by)


async def test_an_activated_environment_is_told_apart(bench: Bench) -> None:
    (bench.root / "bin").mkdir()
    await bench.bash("deactivate() { :; }; PS1='(venv) '; export PATH=$PWD/bin:$PATH")
    assert bench.standing.altered_by == ()
    assert bench.standing.functions == {"deactivate"}
    assert bench.standing.programs == (f"{bench.root}/bin",)
    await bench.bash("PATH=${PATH#*:}; unset -f deactivate")
    assert told(bench) == ()


PATH = r"declare -x PATH=\"/usr/bin:/bin\"\n"
FORGERIES = {
    "code in a value": (r"declare -- x=\"\$(touch pwned)\"\n", "", "", ""),
    "code in an array given as text": (r"declare -a x=\"([0]=\$(touch pwned))\"\n", "", "", ""),
    "code in a subscript": (r"declare -a x=([\$(touch pwned)]=\"1\")\n", "", "", ""),
    "code in a number": (r"declare -i x=\"a[\$(touch pwned)]\"\n", "", "", ""),
    "a command after a value": (r"declare -- x=\"1\"; touch pwned\n", "", "", ""),
    "a command instead": (r"touch pwned\n", "touch pwned\n", "touch pwned\n", "touch pwned\n"),
    "code in an alias": ("", r"alias a='x'; touch pwned\n", "", ""),
    "code in an alias's name": ("", r"alias \$(touch${IFS}pwned)='x'\n", "", ""),
    "a command after a function": ("", "", r"declare -f f\n", r"f () \n{ \n:\n}; touch pwned\n"),
    "a command as a function": ("", "", r"declare -f f\n", r"f () \ntouch pwned\n"),
    "a function's name": ("", "", r"declare -f \$(x)\n", r"\$(touch pwned) () \n{ \n:\n}\n"),
    "the environment of bash": (r"declare -x BASH_ENV=\"evil\"\n", "", "", ""),
    "nothing at all": ("", "", "", ""),
}  # fmt: skip


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
async def test_a_forged_state_runs_nothing(bench: Bench, forgery: tuple[str, ...]) -> None:
    (bench.root / "evil").write_text("touch pwned\n", encoding="utf-8")
    sections = "\\0".join((str(bench.root), PATH + forgery[0], *forgery[1:]))
    await bench.bash(f'printf "{sections}\\0done\\0" >&100; cd /')
    assert bench.standing.directory == str(bench.root), "the forgery was not taken at all"
    assert (await bench.says("echo fine")).endswith("fine")
    await bench.bash(": >after; echo $((1 + 1))")
    assert sorted(path.name for path in bench.root.iterdir()) == ["after", "evil"]


@pytest.mark.parametrize("broken", [r"\0\0\0", r"done", r"\xff\xfe\0\0\0\0\0done\0", "x" * 100])
async def test_a_broken_state_does_not_break_the_session(bench: Bench, broken: str) -> None:
    await bench.bash("x=1")
    await bench.bash(f"printf '{broken}' >&100")
    assert await bench.says("echo fine; pwd") == f"fine\n{bench.root}"


async def test_a_variable_too_large_to_keep_is_told_once(bench: Bench) -> None:
    assert "the variable x is too large" in await bench.says(
        "x=$(head -c 200000 /dev/zero | tr '\\0' a)"
    )
    assert await bench.says("echo ${#x}") == "0"
