"""The session's shell goes on where the last command ended, and nothing can break it."""

import asyncio
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.core.errors import FailureType
from agent_cli.core.messages import text_of
from agent_cli.tools import bash
from agent_cli.tools._shell.report import readable
from tests.kit.shells import Bench, terminal, until


async def test_output_of_both_kinds_comes_in_order(bench: Bench) -> None:
    assert await bench.says("echo one; echo two >&2; echo three") == "one\ntwo\nthree"


async def test_directory_variables_functions_and_aliases_persist(bench: Bench) -> None:
    await bench.bash(
        "mkdir sub; cd sub; export SHOUT=1; quiet='a  b'; say() { echo \"said $1\"; }\n"
        "alias hello='echo \"it'\\''s\"'; list=(x 'y z'); declare -A map=([a key]=value)"
    )
    assert await bench.says('pwd; echo "$SHOUT$quiet"; printenv SHOUT quiet || echo no') == (
        f"{bench.root}/sub\n1a  b\n1\nno"
    )
    assert await bench.says('say yes; hello; echo "${list[1]} ${map[a key]}"') == (
        "said yes\nit's\ny z value"
    )
    assert await bench.says("bash -c 'type say'") != "said"


@pytest.mark.parametrize(
    "value",
    [
        "plain",
        "it's",
        'a "b" `c` $d \\',
        "two\nlines\n",
        "\ttab \x01\x7f",
        "ünï 漢字 🎉",
        "-n",
        "!x",
        "",
    ],
)
async def test_values_come_back_exactly(bench: Bench, value: str) -> None:
    (bench.root / "value").write_text(value + ".", encoding="utf-8")
    await bench.bash(
        'v=$(<value); v=${v%.}; export w="$v"; a=("$v" x); declare -A m=(["k$v"]="$v")'
    )
    await bench.bash(
        'printf %s "$v" >v; printenv w >w; printf %s "${a[0]}" >a; printf %s "${m["k$v"]}" >m'
    )
    for name in "vam":
        assert (bench.root / name).read_text(encoding="utf-8") == value
    assert (bench.root / "w").read_text(encoding="utf-8") == value + "\n"


async def test_bytes_that_are_no_text_come_back_too(bench: Bench) -> None:
    await bench.bash("export v=$'\\xff\\xfea'")
    assert await bench.says('printf %s "$v" | od -An -tx1') == " ff fe 61"


async def test_unset_variables_stay_unset(bench: Bench) -> None:
    await bench.bash("unset LANG TERM")
    assert await bench.says('echo "${TERM-gone}"') == "gone"


async def test_options_and_traps_do_not_persist(bench: Bench) -> None:
    assert "bye" in await bench.says("set -euo pipefail; shopt -s nullglob; trap 'echo bye' EXIT")
    assert await bench.says('false | true; echo "$? $- ${nothing-unset} *.none"') == (
        "0 hBc unset *.none"
    )


async def test_exit_keeps_what_was_done_before_it(bench: Bench) -> None:
    result = await bench.bash("cd /; x=1; exit 3")
    assert result.metadata["exit_code"] == 3
    assert await bench.says("pwd; echo $x") == "/\n1"


async def test_an_error_under_errexit_keeps_what_was_done_before_it(bench: Bench) -> None:
    assert (await bench.bash("set -e; x=1; false; x=2")).metadata["exit_code"] == 1
    assert await bench.says("echo $x") == "1"


@pytest.mark.parametrize(
    "fatal", ["kill -9 $$", "kill $$", "exec true", "exec 100>&-", "x=2; kill -SEGV $$"]
)
async def test_a_shell_that_is_lost_leaves_the_session_as_it_was(bench: Bench, fatal: str) -> None:
    await bench.bash("x=1; cd /")
    await bench.bash(fatal)
    assert await bench.says("echo $x; pwd") == "1\n/"


async def test_a_command_that_is_stopped_leaves_the_session_as_it_was(bench: Bench) -> None:
    await bench.bash("x=1")
    await bench.bash("x=2; cd /; sleep 1000", timeout=300)
    assert await bench.says("echo $x; pwd") == f"1\n{bench.root}"


@pytest.mark.parametrize(
    "override",
    [
        "declare() { :; }", "builtin() { :; }", "printf() { :; }", "eval() { echo no; }",
        "read() { :; }", "exit() { :; }", "alias eval='echo no' exit='echo no' declare='echo no'",
        "trap() { :; }", "shopt() { :; }", "alias() { :; }", "alias {='echo no'", "set -o posix",
        "readonly REPLY", "IFS=0123456789", "set -C", "set -u", "set -x", "enable -n declare eval",
        "declare -r PATH", "exec >/dev/null", "exec 2>&-", "PS4='$(echo no)'; set -x", "set -n",
        "trap 'echo no' DEBUG; set -T", "BASH_ENV=nowhere", "export BASH_ENV=nowhere",
        "export ENV=x",
        "export SHELLOPTS", "export POSIXLY_CORRECT=1", "declare -n ref=PATH", "cd() { :; }",
    ],
)  # fmt: skip
async def test_no_definition_can_break_the_next_command(bench: Bench, override: str) -> None:
    await bench.bash(override)
    assert (await bench.says("echo fine")).endswith("fine")
    await bench.bash("keep=1")
    assert (await bench.says('echo "$keep"')).endswith("1")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat <<'X'\na $b `c`\nX", "a $b `c`"),
        ("echo a # comment", "a"),
        ("echo a \\\n  b", "a b"),
        ("echo a \\\n", "a"),
        ("echo 'a\n\nb'", "a\n\nb"),
        ('echo "$LINENO"', "1"),
        ("echo $# $0", "0 bash"),
        ("true &&\n\n\n echo x", "x"),
        ("echo -n 'a\tb'", "a\tb"),
        ("for i in 1 2; do echo $i; done", "1\n2"),
    ],
)
async def test_the_text_that_was_analysed_is_what_runs(
    bench: Bench, command: str, expected: str
) -> None:
    assert await bench.says(command) == expected


async def test_a_syntax_error_is_told_and_breaks_nothing(bench: Bench) -> None:
    result = await bench.bash("echo 'open")
    assert result.metadata["exit_code"] == 2
    assert "line 1: unexpected EOF" in text_of(result.llm_content)
    assert await bench.says("echo fine") == "fine"


async def test_a_command_of_a_megabyte_runs(bench: Bench) -> None:
    assert await bench.says(f"echo {'x' * 1_000_000} | wc -c") == "1000001"


async def test_the_command_is_not_found_by_its_own_words(bench: Bench) -> None:
    result = await bench.bash("pkill -f word-nobody-else-uses; echo alive")
    assert text_of(result.llm_content) == "alive"


async def test_no_command_runs_elsewhere_because_its_directory_vanished(bench: Bench) -> None:
    await bench.bash("mkdir sub; cd sub")
    shutil.rmtree(bench.root / "sub")
    result = await bench.bash("touch elsewhere")
    assert result.error is not None
    assert f"{bench.root}/sub no longer exists" in result.error.message
    assert not (bench.root / "elsewhere").exists()
    assert bench.standing.directory is None
    assert await bench.says("pwd") == str(bench.root)


async def test_another_directory_holds_for_one_command(bench: Bench) -> None:
    (bench.root / "sub").mkdir()
    assert await bench.says("pwd", working_directory="sub") == f"{bench.root}/sub"
    assert await bench.says("pwd") == str(bench.root)
    assert bash.TOOL.bind({"cmd": "x", "cwd": "sub"}).targets[0].base == "sub"


@pytest.mark.parametrize(
    ("wanted", "why"),
    [("nowhere", "does not exist"), ("file", "not a directory"), ("/etc", "outside")],
)
async def test_a_wrong_directory_is_refused(bench: Bench, wanted: str, why: str) -> None:
    (bench.root / "file").touch()
    result = await bench.bash("pwd", working_directory=wanted)
    assert result.error is not None
    assert result.error.type is FailureType.VALIDATION
    assert why in result.error.message


async def test_the_result_tells_exit_code_signal_and_duration(bench: Bench) -> None:
    result = await bench.bash("echo x; exit 7")
    assert not result.success
    assert text_of(result.llm_content).startswith("x\n[exit 7 after ")
    assert result.summary.startswith("exit 7 after ")
    assert terminal(result).exit_code == 7
    killed = await bench.bash("kill -TERM $$")
    assert killed.metadata["signal"] == "SIGTERM"
    assert killed.metadata["exit_code"] == 143
    assert await bench.says("true") == "[no output]"


async def test_a_bar_that_is_drawn_over_is_told_once(bench: Bench) -> None:
    assert await bench.says(r"printf '1%%\r2%%\r3%%\nend\r\n'") == "3%\nend"


@pytest.mark.timeout(20)
async def test_a_very_long_line_takes_no_longer_than_its_length(bench: Bench) -> None:
    await bench.bash("head -c 100000 /dev/zero | tr '\\0' x")
    await bench.bash("head -c 100000 /dev/zero | tr '\\0' '\\r'; echo; echo end")


@given(st.text(alphabet="ab\r\n", max_size=30))
def test_what_is_drawn_over_is_what_a_carriage_return_goes_back_over(text: str) -> None:
    lines = text.replace("\r\n", "\n").split("\n")
    drawn = [re.sub(r".*\r+(?=[^\r])", "", line) for line in lines]
    assert readable(text) == "\n".join(drawn)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("read x; echo $?", "1"),
        ("cat", "[no output]"),
        ("less file", "content"),
        ("python3", "[no output]"),
        ("git -c user.name=a -c user.email=a@b commit --allow-empty", "There is no editor here"),
        ("git -c user.name=a -c user.email=a@b rebase -i --root", "There is no editor here"),
        ("echo secret >/dev/tty", "No such device"),
        ("stty -a", "Inappropriate ioctl"),
    ],
)
async def test_an_interactive_program_ends_at_once(
    bench: Bench, command: str, expected: str
) -> None:
    (bench.root / "file").write_text("content\n", encoding="utf-8")
    await bench.bash(
        "git init -q && git -c user.name=a -c user.email=a@b commit -qm x --allow-empty"
    )
    async with asyncio.timeout(30):
        assert expected in await bench.says(command)


@pytest.mark.skipif(shutil.which("vim") is None, reason="there is no vim here")
async def test_a_full_screen_editor_ends_by_itself(bench: Bench) -> None:
    (bench.root / "file").write_text("content\n", encoding="utf-8")
    async with asyncio.timeout(30):
        assert "[exit 1 after" in await bench.says("vim file")
        await bench.bash("vim -es -c 'normal Aed' -c wq file")
    assert (bench.root / "file").read_text(encoding="utf-8") == "contented\n"


async def test_output_is_shown_while_it_comes(bench: Bench) -> None:
    running = asyncio.create_task(
        bench.bash("echo first; until [ -e go ]; do sleep 0.01; done; echo ü")
    )
    await until(lambda: bench.shown)
    assert bench.shown == ["first\n"]
    (bench.root / "go").touch()
    await running
    assert "".join(bench.shown) == "first\nü\n"


async def test_a_flood_is_shown_in_part_and_not_too_often(bench: Bench) -> None:
    await bench.bash("seq 1 300000")
    assert len(bench.shown) < 2 * 20 * 30
    assert all(len(shown) <= 4_096 + len("\n[… 999,999,999 bytes …]\n") for shown in bench.shown)
    assert bench.shown[-1].endswith("300000\n")


async def test_long_output_is_cut_and_kept_whole_in_a_private_file(bench: Bench) -> None:
    result = await bench.bash("seq 1 100000")
    told = text_of(result.llm_content)
    assert told.startswith("1\n2\n")
    assert told.endswith("100000")
    assert len(told) < 40_000
    path = Path(str(result.metadata["output_file"]))
    assert str(path) in told
    assert_private_and_complete(path)
    assert result.metadata["truncated"] is True


def assert_private_and_complete(path: Path) -> None:
    assert path.read_text(encoding="utf-8").splitlines() == [str(n) for n in range(1, 100_001)]
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


async def test_wrong_settings_are_named(tmp_path: Path) -> None:
    bench = Bench(tmp_path, auto_background_after="soon")
    assert "auto_background_after" in await bench.says("true")


def test_the_tools_cost_the_model_little() -> None:
    import json

    from agent_cli.tools import bash_output, kill_shell

    for tool, most in ((bash.TOOL, 1_650), (bash_output.TOOL, 500), (kill_shell.TOOL, 400)):
        assert len(json.dumps(tool.declaration, separators=(",", ":"))) <= most
