"""What once ran code, leaked or read without a question: each in a real session, with its oracle.

An oracle is a file that hostile code would write, or text that must not reach the model.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.events import ApprovalAsked
from agent_cli.core.inbox import Approval
from agent_cli.core.messages import text_of
from tests.kit.sessions import SceneMaker, of_type, results

SECRET = "topsecret-4711"


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"name": "Bash", "arguments": {"command": command}}]}


async def play(make_session: SceneMaker, *calls: dict[str, Any], **how: Any) -> tuple[str, int]:
    """All that the model was told, and how often the user was asked; the answer is always no."""
    scene = make_session(*calls, {"text": "done"}, **how)
    events = await scene.play(answer=lambda _: Approval())
    told = "\n".join(text_of(each.result.llm_content) for each in results(events).values())
    return told, len(of_type(events, ApprovalAsked))


async def play_each(
    make_session: SceneMaker, calls: Iterable[dict[str, Any]], **how: Any
) -> list[tuple[str, int]]:
    """The same for each call, in one session with a turn for each; the answer is always no."""
    calls = list(calls)
    scene = make_session(*(step for call in calls for step in (call, {"text": "done"})), **how)
    found = []
    for _ in calls:
        events = await scene.play(answer=lambda _: Approval())
        told = "\n".join(text_of(each.result.llm_content) for each in results(events).values())
        found.append((told, len(of_type(events, ApprovalAsked))))
    return found


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, env=environment, capture_output=True
    )


def repository(folder: Path, files: Mapping[str, str] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    for name, text in (files or {"a.txt": "a\n"}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "-Af")
    git(folder, "commit", "-qm", "x")
    return folder


def repository_by_commondir(folder: Path, marker: Path) -> None:
    """Ordinary files that git takes for a repository with a monitor program."""
    for name in ("c/objects", "c/refs"):
        (folder / name).mkdir(parents=True)
        (folder / name / "keep").write_text("")
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "commondir").write_text("c\n")
    (folder / "config.worktree").write_text("[core]\nbare=false\nworktree=..\n")
    (folder / "c/config").write_text(
        "[core]\nrepositoryformatversion=1\n"
        f'fsmonitor="id > {marker}; false"\n[extensions]\nworktreeConfig=true\n'
    )


# -- git


ODD_GIT = [
    "cd evil && env -i git status",
    "cd evil && env - git status",
    "cd evil && env -i PATH=/usr/bin:/bin git status",
    "cd evil && env -u GIT_CONFIG_COUNT git status",
    "cd evil && env --ignore-environment git status",
    "cd evil && nice env -i git status",
    "cd evil && bash -c 'env -i git status'",
    "cd evil && GIT_CONFIG_COUNT=0 git status",
    "cd evil && (exec -c git status)",
    "cd evil && env -S '-i git status'",
    "cd evil && unset GIT_CONFIG_COUNT; git status",
    "cd evil && git -c safe.bareRepository=all status",
    "git -C evil status",
    "cd evil && git status",
]


@pytest.mark.parametrize("mode", ["default", "plan", "accept-edits"])
async def test_no_program_of_a_repository_by_commondir_runs(
    make_session: SceneMaker, tmp_path: Path, mode: str
) -> None:
    marker = tmp_path / "ran"
    repository_by_commondir(make_session.workspace / "evil", marker)
    # The directory stays for the next command.
    calls = [bash(f"({command})") for command in ODD_GIT]
    await play_each(make_session, calls, settings={"mode": mode})
    assert not marker.exists()


async def test_a_probe_is_not_fooled_by_times_and_sizes(
    make_session: SceneMaker, tmp_path: Path
) -> None:
    """The configuration is rewritten between two commands, with the same size and time."""
    marker = tmp_path / "ran"
    work = repository(make_session.workspace, {"a.txt": "a\n", ".gitattributes": "* filter=x\n"})
    config = work / ".git/config"
    line = f'[filter "x"]\n\tclean = "touch {marker}; cat"\n'
    harmless = config.read_text() + "#" * (len(line) - 1) + "\n"
    config.write_text(harmless)
    before = config.stat()
    scene = make_session(
        bash("git status"), {"text": "one"}, bash("git diff"), {"text": "two"},
    )  # fmt: skip
    await scene.play(answer=lambda _: Approval())
    config.write_text(harmless.replace("#" * (len(line) - 1) + "\n", line))
    (work / "a.txt").write_text("b\n")
    os.utime(config, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert config.stat().st_size == before.st_size
    await scene.play(answer=lambda _: Approval())
    assert not marker.exists()


@pytest.mark.parametrize("command", ["git diff", "git describe --dirty --always", "git status"])
async def test_hooks_of_a_common_directory_do_not_run(
    make_session: SceneMaker, tmp_path: Path, command: str
) -> None:
    marker = tmp_path / "ran"
    work = repository(make_session.workspace)
    common = work / "common"
    shutil.copytree(work / ".git", common)
    (work / ".git/commondir").write_text("../common\n")
    hook = common / "hooks/post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {marker}\n")
    hook.chmod(0o755)
    os.utime(work / "a.txt", (1, 1))
    await play(make_session, bash(command))
    assert not marker.exists()


async def test_a_linked_worktree_runs_no_hook_of_its_repository(
    make_session: SceneMaker, tmp_path: Path
) -> None:
    marker = tmp_path / "ran"
    main = repository(tmp_path / "main")
    make_session.workspace.rmdir()
    git(main, "worktree", "add", "-q", str(make_session.workspace))
    told, asked = await play(make_session, bash("git status --short && git log --oneline"))
    assert not asked and " x" in told
    hook = main / ".git/hooks/post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {marker}\n")
    hook.chmod(0o755)
    os.utime(make_session.workspace / "a.txt", (1, 1))
    await play(make_session, bash("git diff"))
    assert not marker.exists()


async def test_a_git_file_does_not_open_a_repository_elsewhere(
    make_session: SceneMaker, tmp_path: Path
) -> None:
    private = repository(tmp_path / "home2/private", {"notes.txt": f"{SECRET}\n"})
    (make_session.workspace / "sub").mkdir()
    (make_session.workspace / "sub/.git").write_text(f"gitdir: {private}/.git\n")
    told, _ = await play(make_session, bash("cd sub && git log -p"))
    assert SECRET not in told


# -- locale


@pytest.fixture(scope="session")
def gbk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a Chinese locale in which a backslash may be half a character."""
    place = tmp_path_factory.mktemp("locales")
    made = subprocess.run(
        ["localedef", "-i", "zh_CN", "-f", "GBK", str(place / "zh_CN.GBK")],
        capture_output=True,
        check=False,
    )
    if not (place / "zh_CN.GBK/LC_CTYPE").exists():
        pytest.skip(f"localedef made no locale: {made.stderr!r}")
    return place


@pytest.mark.parametrize(
    "command",
    [
        "LC_ALL=zh_CN.GBK bash -c 'echo 表\\;touch X'",
        "env LC_CTYPE=zh_CN.GBK bash -c 'echo 表\\;touch X'",
        "LANG=zh_CN.GBK bash -c 'echo 表\\;touch X'",
    ],
)
async def test_no_locale_changes_what_bash_reads(
    make_session: SceneMaker, gbk: Path, command: str
) -> None:
    passed = {"environment": {"passed": ["LOCPATH"]}}
    await play(make_session, bash(command), environment={"LOCPATH": str(gbk)}, settings=passed)
    assert not (make_session.workspace / "X").exists()


@pytest.mark.parametrize("name", ["LANG", "LC_ALL", "LC_CTYPE"])
async def test_our_shell_reads_utf8_whatever_the_users_locale(
    make_session: SceneMaker, gbk: Path, name: str
) -> None:
    await play(
        make_session,
        bash("echo 表\\;touch X"),
        environment={"LOCPATH": str(gbk), name: "zh_CN.GBK"},
        settings={"environment": {"passed": ["LOCPATH"]}},
    )
    assert not (make_session.workspace / "X").exists()


# -- globs

PATTERNS = [
    "nlin[^x]", "nl['!'i]nk", 'nl["!"i]nk', "nl[\\!i]nk", "nlin[[:alpha:]]", "nlin[!^x]",
    "n[^x-z]ink", "nl?nk", "nl[a-z]nk", "nl[A-z]nk", "n*k", "*link", "[^.]link", "nl[i^]nk",
    "n[]l]ink", "n[!]x]ink", "nl[[.i.]]nk", "[!a]link", "nlin{k,x}", "nlin[^x]{,}", "nlin[k-",
]  # fmt: skip


async def test_no_pattern_reads_through_a_link_out_of_the_workspace(
    make_session: SceneMaker, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text(f"{SECRET}\n")
    (make_session.workspace / "nlink").symlink_to(outside / "f")
    (make_session.workspace / "dlink").symlink_to(outside)
    directories = [pattern.replace("n", "d", 1) for pattern in PATTERNS]
    commands = [f"cat {pattern}" for pattern in PATTERNS]
    commands += [f"cat {pattern}/f" for pattern in directories]
    commands += [f"LC_ALL=C cat {pattern}" for pattern in PATTERNS[:4]]
    found = await play_each(make_session, map(bash, commands))
    leaked = [c for c, (told, _) in zip(commands, found, strict=True) if SECRET in told]
    assert not leaked


async def test_a_pattern_that_counts_bytes_reads_no_link(
    make_session: SceneMaker, tmp_path: Path
) -> None:
    (tmp_path / "f").write_text(f"{SECRET}\n")
    (make_session.workspace / "lé").symlink_to(tmp_path / "f")
    told, _ = await play(make_session, bash("LC_ALL=C bash -c 'cat l??'"), bash("cat l??"))
    assert SECRET not in told


DENIED_READS = [
    "cat s[^x]cret/a", "cat s['!'e]cret/a", "cat [^x]*/a", "cat */a", "cat s?cret/?",
    "grep -rh . .", "grep -rh . *", "grep -r . --include=a", "rg -uuu . .", "rg .",
    "cat secret/a", "head -n1 < secret/a", "find . -name a -exec cat {} +", "diff -r . empty",
    "for f in */a; do cat \"$f\"; done", "git grep -h . ", "git log -p", "git show",
    "git diff 4b825dc642cb6eb9a060e54bf8d69288fbee4904 HEAD", "git show HEAD:secret/a",
    "cd secret && cat a", "git grep -h . HEAD", "cd open && git show HEAD:secret/a",
    "cd open && git grep -h . HEAD -- ../secret", "git -C open show HEAD:secret/a", "git grep -h . -- 's[^x]cret/*'", "ls | xargs -I{} cat {}/a",
]  # fmt: skip


async def test_a_denied_path_is_read_by_no_command(make_session: SceneMaker) -> None:
    repository(make_session.workspace, {"secret/a": f"{SECRET}\n", "open/b": "b\n"})
    (make_session.workspace / "empty").mkdir()
    deny = {"permissions": {"deny": ["Read(secret/**)"]}}
    calls = [bash(f"({command})") for command in DENIED_READS]
    found = await play_each(make_session, calls, settings=deny)
    for command, (told, asked) in zip(DENIED_READS, found, strict=True):
        assert SECRET not in told, command
        assert not asked or command in UNCLEAR, command


UNCLEAR = {"cat s['!'e]cret/a", "ls | xargs -I{} cat {}/a"}
"""What these read cannot be told, so that they ask."""

SEARCHES: list[tuple[str, dict[str, Any]]] = [
    ("Grep", {"pattern": "top"}),
    ("Grep", {"pattern": "top", "output_mode": "count"}),
    ("Grep", {"pattern": "top", "path": "secret", "glob": "*"}),
    ("Grep", {"pattern": "top", "glob": "secret/**"}),
    ("Glob", {"pattern": "**/*"}),
    ("Glob", {"pattern": "secret/*"}),
    ("ListFiles", {"recursive": True}),
    ("ListFiles", {"path": "secret"}),
    ("Replace", {"pattern": "top", "replacement": "x"}),
]


@pytest.mark.parametrize("rule", ["Read(secret/**)", "Read(secret/)", "Read(**/hidden-name)"])
async def test_a_denied_path_is_found_by_no_search(make_session: SceneMaker, rule: str) -> None:
    files = {"secret/hidden-name": f"{SECRET}\n", "open/b": "topic\n"}
    calls = [{"calls": [{"name": tool, "arguments": given}]} for tool, given in SEARCHES]
    deny = {"permissions": {"deny": [rule]}}
    found = await play_each(make_session, calls, files=files, settings=deny)
    for (tool, given), (told, _) in zip(SEARCHES, found, strict=True):
        assert SECRET not in told, tool
        assert "hidden-name:" not in told and "hidden-name\n" not in told, tool
        if "secret" not in str(given):
            assert "open/b" in told, tool
            assert "rule" in told, "the result says that something was left out"


async def test_a_replacement_leaves_out_what_may_not_be_read_or_written(
    make_session: SceneMaker,
) -> None:
    for rule in ("Read(secret/**)", "Edit(secret/**)"):
        files = {"secret/a": "top\n", "open/b": "top\n"}
        arguments = {"pattern": "top", "replacement": "x", "preview": False}
        await play(
            make_session,
            {"calls": [{"name": "Replace", "arguments": arguments}]},
            files=files,
            settings={"permissions": {"deny": [rule]}, "mode": "accept-edits"},
        )
        assert (make_session.workspace / "secret/a").read_text() == "top\n"


# -- secrets


SECRET_READS = [
    "grep -rh . . | rev", "grep -r . | rev", "grep -rh . sub | rev", "grep -d recurse -h . . | rev",
    "grep --directories=recurse -h . . | rev", "grep -h -r . ./* | rev", "rg -uuu . | rev",
    "rg . --no-ignore --hidden | rev", "rg -h . sub | rev", "egrep -r . . | rev",
    "git grep --untracked --no-exclude-standard -h . | rev", "git grep -h . | rev",
    "git log -p --all | rev", "git show | rev", "git log --patch | rev", "git log -U1 | rev",
    "git diff 4b825dc642cb6eb9a060e54bf8d69288fbee4904 HEAD | rev", "git stash show -p | rev",
    "git cat-file -p HEAD:sub/server.key | rev", "git show HEAD:./sub/server.key | rev",
    "git grep -h . HEAD | rev", "cd empty && git grep -h . HEAD -- .. | rev",
    "cd empty && git show HEAD:sub/server.key | rev", "git show HEAD HEAD:sub/server.key | rev",
    "git cat-file -p BLOB | rev", "git show BLOB | rev", "git log -p -- sub | rev",
    "find . -type f -exec cat {} + | rev", "find . -type f | xargs cat | rev",
    "diff -r . empty | rev", "diff -r sub empty -N | rev", "git diff --no-index sub empty | rev",
    "for f in sub/*; do cat \"$f\"; done | rev", "cat $(git ls-files) | rev",
    "tar c . | rev", "git whatchanged -p | rev", "git log -L1,1:sub/server.key | rev",
    "git blame sub/server.key | rev", "sha256sum -c list", "git log -c -p | rev",
    "while read -r f; do cat \"$f\"; done < list | rev",
]  # fmt: skip


async def test_no_recursive_command_hands_out_a_secret_file(make_session: SceneMaker) -> None:
    work = repository(make_session.workspace, {"sub/server.key": f"{SECRET}\n", "a.txt": "a\n"})
    (work / ".env").write_text(f"API={SECRET}\n")
    (work / "empty").mkdir()
    (work / "list").write_text("sub/server.key\n")
    words = ["git", "rev-parse", "HEAD:sub/server.key"]
    done = subprocess.run(words, cwd=work, capture_output=True, text=True, check=True)
    calls = [bash(f"({command.replace('BLOB', done.stdout.strip())})") for command in SECRET_READS]
    found = await play_each(make_session, calls)
    for command, (told, _) in zip(SECRET_READS, found, strict=True):
        assert SECRET not in told and SECRET[::-1] not in told, command


async def test_without_a_secret_file_nothing_is_asked(make_session: SceneMaker) -> None:
    repository(make_session.workspace)
    commands = [
        "grep -rn a .",
        "rg a",
        "git log -p",
        "git show",
        "git diff HEAD~0",
        "find . -type f",
    ]
    found = await play_each(make_session, map(bash, commands))
    assert not [c for c, (_, asked) in zip(commands, found, strict=True) if asked]


# -- what tells about files outside


TELLING = [
    "test -a {} && echo yes", "[ -a {} ] && echo yes", "test {} -nt a.txt && echo yes",
    "test a.txt -ot {} && echo yes", "[ {} -ef {} ] && echo yes", "[[ -e {} ]] && echo yes",
    "[[ -a {} ]] && echo yes", "test -o {} && echo yes", "test x -a -e {} && echo yes",
    "[ ! -a {} ] || echo yes", "test -e {} -a x && echo yes", "[[ a.txt -ot {} ]] && echo yes",
    "type {} && echo yes", "which {} && echo yes",
    "command -v {} && echo yes", "sha256sum -c list 2>&1 | grep -c OK | sed s/1/yes/", "md5sum --check md5 && echo yes",
]  # fmt: skip


async def test_nothing_tells_whether_a_file_outside_exists(
    make_session: SceneMaker, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("x")
    outside.chmod(0o755)
    sums = {"list": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}
    sums["md5"] = "9dd4e461268c8034f5c8564e155c67a6"
    files = {"a.txt": "a\n"} | {name: f"{sum}  {outside}\n" for name, sum in sums.items()}
    commands = [command.format(outside, outside) for command in TELLING]
    found = await play_each(make_session, map(bash, commands), files=files)
    for command, (told, asked) in zip(TELLING, found, strict=True):
        assert asked and "yes" not in told, command


# -- rules that let too much through


OWN_FILES = [
    "prettier --write {config}", "prettier --write={config}", "prettier -o{config}",
    "prettier --plugin=x ~/.config/agent/config.toml", "prettier --write .agent/config.toml",
    "prettier x --out=.agent/hooks.toml", "prettier --write {home}/.config/x/../agent/config.toml",
    "cd {home} && prettier --write .config/agent/config.toml", "prettier file:{config}",
    "env prettier --write {config}", "prettier --write {home}/.config/agen?/config.toml",
    "prettier --write {home}/.config/a[^x]ent/*", "prettier @{config}", "prettier --a=x,{config}", "prettier {state}/audit.jsonl",
]  # fmt: skip


async def test_no_rule_reaches_the_agents_own_files(
    make_session: SceneMaker, tmp_path: Path
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    marker = tmp_path / "ran"
    (tools / "prettier").write_text(f'#!/bin/sh\necho "$*" >> {marker}\n')
    (tools / "prettier").chmod(0o755)
    home = make_session.home
    (home / ".config/agent").mkdir(parents=True, exist_ok=True)
    (home / ".config/agent/config.toml").touch()
    config, state = home / ".config/agent/config.toml", home / ".local/state/agent"
    commands = [each.format(config=config, home=home, state=state) for each in OWN_FILES]
    await play_each(
        make_session,
        [bash(f"({command})") for command in commands],
        settings={"permissions": {"allow": ["Bash(prettier *)", "Bash(env *)", "Bash(cd *)"]}},
        environment={"PATH": f"{tools}:/usr/bin:/bin"},
    )
    assert not marker.exists() or marker.read_text() == ""
