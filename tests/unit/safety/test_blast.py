"""What destructive commands would touch, counted on real trees and real repositories."""

import asyncio
import contextlib
import os
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_cli.safety.impact import Impact, Touched, blast_radius
from agent_cli.safety.impact.clock import Clock
from agent_cli.safety.impact.wildcards import matches
from agent_cli.safety.paths import Workspace
from agent_cli.safety.reasons import because
from agent_cli.safety.shell import Destruction, ShellContext, analyse, place_on_disk
from tests.kit.trees import git, repository, state_of, write

PLENTY = 20.0


class Project:
    """A project in a directory of its own, with a home beside it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.root = directory / "project"
        self.home = directory / "home"
        self.root.mkdir()
        self.home.mkdir()
        self.environment = {"HOME": str(self.home), "PATH": os.environ["PATH"]}

    def destroys(self, command: str) -> tuple[Destruction, ...]:
        place = ShellContext(str(self.root), (str(self.root),), str(self.home))
        return analyse(command, place_on_disk(place)).destroys

    def radius(self, command: str, seconds: float = PLENTY) -> Impact:
        workspace = Workspace(str(self.root), home=str(self.home))
        counting = blast_radius(
            self.destroys(command), workspace, seconds=seconds, environment=self.environment
        )
        return asyncio.run(counting)

    def touched(self, command: str) -> Touched:
        (touched,) = self.radius(command).touched
        return touched

    def lines(self, command: str) -> list[str]:
        return [str(line) for line in self.radius(command).lines()]


@pytest.fixture
def bare(tmp_path: Path) -> Project:
    """A project without git."""
    return Project(tmp_path.resolve())


@pytest.fixture
def project(bare: Project) -> Iterator[Project]:
    """A repository with committed, changed, untracked and ignored files; counting changes none."""
    repository(
        bare.root,
        {
            ".gitignore": "build/local.env\n",
            "build/one": "1\n",
            "build/two": "22\n",
            "src/a.py": "a = 1\n",
            "src/b.py": "b = 1\n",
        },
    )
    write(bare.root, {"build/new": "n" * 1500, "build/local.env": "S=1\n", "build/.hidden": "h\n"})
    write(bare.root, {"src/a.py": "a = 2  # not committed\n", "notes": "mine\n"})
    write(bare.home, {"mine": "x\n"})
    (bare.root / "src" / "link").symlink_to(bare.home / "mine")
    (bare.root / "elsewhere").symlink_to(bare.home)
    before = state_of(bare.directory)
    yield bare
    assert state_of(bare.directory) == before, "counting changed something"


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        (
            "rm -rf build/*",
            [
                "deletes 4 files, 1.5 kB",
                "2 of them aren't in git: build/local.env, build/new",
            ],
        ),
        (
            "cd build && rm -rf * ../../home/mine",
            [
                "deletes 5 files, 1.5 kB",
                "3 of them aren't in git: build/local.env, build/new, ~/mine",
                "1 outside the project: ~/mine",
            ],
        ),
        ("rm -r build/.*", ["deletes 1 file, 2 B", "it isn't in git: build/.hidden"]),
        ("rm build/one build/two", ["deletes 2 files, 5 B: build/one, build/two"]),
        ("rm build", []),
        ("rm -f nothing '*'", []),
        ("rm -rf . ..", []),
        ("rm src/link", ["deletes 1 file, {link} B", "it isn't in git: src/link"]),
        (
            "rm -rf elsewhere/",
            [
                "deletes 1 file, 2 B",
                "it isn't in a git repository: ~/mine",
                "outside the project: ~/mine",
            ],
        ),
        (
            "rm elsewhere/../home/mine",
            [
                "deletes 1 file, 2 B",
                "it isn't in a git repository: ~/mine",
                "outside the project: ~/mine",
            ],
        ),
        (
            "rm src/a.py",
            ["deletes 1 file, 23 B", "it has uncommitted changes: src/a.py"],
        ),
        ("unlink build/one", ["deletes 1 file, 2 B: build/one"]),
        ("rmdir build", []),
        ("shred -u build/one", ["deletes 1 file, 2 B: build/one"]),
        ("shred -n 3 build/one", ["overwrites 1 file, 2 B: build/one"]),
        ("truncate -s 0 build/one", ["overwrites 1 file, 2 B: build/one"]),
        ("truncate -s +5 build/one", ["changes 1 file in place: build/one"]),
        (
            "mv build/one build/two",
            ["moves 1 file away: build/one", "overwrites 1 file, 3 B: build/two"],
        ),
        ("mv -n build/one build/two", ["moves 1 file away: build/one"]),
        ("mv build/one fresh", ["moves 1 file away: build/one"]),
        ("mv -t build src/b.py", ["moves 1 file away: src/b.py"]),
        ("cp build/one build/two", ["overwrites 1 file, 3 B: build/two"]),
        ("cp build/one fresh", []),
        ("cp -n build/one build/two", []),
        ("cp build/one build/one", []),
        ("cp missing build/two", []),
        (
            "cp build/one src/link",
            [
                "overwrites 1 file, 2 B",
                "it isn't in a git repository: ~/mine",
                "outside the project: ~/mine",
            ],
        ),
        ("cp -r build/. src", []),
        ("install -m 644 build/one build/two", ["overwrites 1 file, 3 B: build/two"]),
        ("install -d build", []),
        ("ln -s one build/two", []),
        ("ln -sf one build/two", ["overwrites 1 file, 3 B: build/two"]),
        ("ln -sf ../one build", ["overwrites 1 file, 2 B: build/one"]),
        ("ls | tee build/one fresh", ["overwrites 1 file, 2 B: build/one"]),
        ("ls | tee -a build/one", ["changes 1 file in place: build/one"]),
        ("echo > build/one", ["overwrites 1 file, 2 B: build/one"]),
        ("echo >> build/one", ["changes 1 file in place: build/one"]),
        ("echo > fresh 2>/dev/null", []),
        ("echo > build/on*", ["overwrites 1 file, 2 B: build/one"]),
        ("dd if=/dev/zero of=build/one", ["overwrites 1 file, 2 B: build/one"]),
        ("dd if=x of=build/one conv=notrunc", ["changes 1 file in place: build/one"]),
        ("sed -i s/a/b/ build/one build/two", ["changes 2 files in place: build/one, build/two"]),
        ("sed -i.bak -e s/a/b/ build/one", ["changes 1 file in place: build/one"]),
        ("perl -pi -e s/a/b/ build/one", ["changes 1 file in place: build/one"]),
        ("perl -i.bak -pe s/a/b/ build/one", ["changes 1 file in place: build/one"]),
        ("chmod -x build/one", ["changes the permissions of 1 file: build/one"]),
        (
            "chmod -R go-w src",
            ["changes the permissions of 3 files and 1 directory: src/link, src/a.py, src/b.py"],
        ),
        ("chown -R me build/one", ["changes the owner of 1 file: build/one"]),
        ("find build -name 'o*' -delete", ["deletes 1 file, 2 B: build/one"]),
        ("find build -name one -exec rm -f {} +", ["deletes 1 file, 2 B: build/one"]),
        (
            r"find . -name one -exec chmod 600 {} \;",
            ["changes the permissions of 1 file: build/one"],
        ),
        ("find build -name one -print", []),
        (
            "git clean -fd build",
            [
                "deletes 2 files, 1.5 kB",
                "none of them are in git: build/new, build/.hidden",
            ],
        ),
        ("git clean -fX", ["deletes 1 file, 4 B", "it isn't in git: build/local.env"]),
        ("git clean -fdx -e notes -- notes", []),
        ("git clean -nfdx", []),
        ("git checkout .", ["discards changes in 1 file: src/a.py"]),
        ("cd src && git checkout -- ../src", ["discards changes in 1 file: src/a.py"]),
        ("git checkout HEAD -- src", ["discards changes in 1 file: src/a.py"]),
        ("git checkout -- build", []),
        ("git checkout -b other", []),
        ("git checkout -f main", ["discards changes in 1 file: src/a.py"]),
        ("git switch --discard-changes main", ["discards changes in 1 file: src/a.py"]),
        ("git restore src", ["discards changes in 1 file: src/a.py"]),
        ("git restore --staged src", []),
        ("git -C src restore .", ["discards changes in 1 file: src/a.py"]),
        ("git reset --hard", ["discards changes in 1 file: src/a.py"]),
        ("git reset HEAD", []),
        ("git rm -rf build", ["deletes 2 files, 5 B: build/one, build/two"]),
        ("git stash drop", ["drops 1 stash"]),
        ("git stash clear", []),
        (
            "rm build/one; rm build/two",
            ["deletes 1 file, 2 B: build/one", "deletes 1 file, 3 B: build/two"],
        ),
        ("bash -c 'rm build/one'", ["deletes 1 file, 2 B: build/one"]),
        ("sudo env X=1 rm build/one", ["deletes 1 file, 2 B: build/one"]),
        ("ls build", []),
    ],
)
def test_the_damage_is_told_before_it_happens(
    project: Project, command: str, lines: list[str]
) -> None:
    target = str(project.home / "mine")
    expected = [line.format(link=len(target)) for line in lines]
    assert _names_sorted(project.lines(command)) == _names_sorted(expected)


def _names_sorted(lines: list[str]) -> list[str]:
    """The lines with their names in one order: that of the disk is not ours to choose."""
    parts = (line.partition(": ") for line in lines)
    return [f"{text}{colon}{sorted(names.split(', '))}" for text, colon, names in parts]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("rm $x", "rm …: part of it is only known when it runs"),
        ("mv a $x", "mv a …: part of it is only known when it runs"),
        ("cd $x && rm a", "rm a: can't tell where it runs"),
        ("echo > $x", "echo > …: part of it is only known when it runs"),
        ("ls | xargs rm", "rm: another command provides its file names"),
        ("ssh host rm -rf build", "rm -rf build: it doesn't run on these files"),
        (r"find . -exec sh -c x \;", "find . -exec sh -c x ';': find runs sh on each file"),
        (
            "find . -fprint x -delete",
            "find . -fprint x -delete: can't predict what find -fprint does here",
        ),
        (
            "find . -delete -exec rm {} +",
            "find . -delete -exec rm '{}' +: can't predict what find does here",
        ),
        (
            "rm [[:alpha:]]*",
            "rm [[:alpha:]]*: a file pattern in it is ambiguous",
        ),
        ("git -c a.b=c clean -fdx", "git -c a.b=c clean -fdx: can't predict what git -c does here"),
        ("git checkout -p", "git checkout -p: it asks which changes to discard while it runs"),
        (
            "cp --parents a b build",
            "cp --parents a b build: can't predict what cp --parents does here",
        ),
    ],
)
def test_what_cannot_be_counted_is_said(project: Project, command: str, why: str) -> None:
    radius = project.radius(command)
    assert [str(each) for each in radius.unknown] == [why]
    assert str(radius.lines()[-1]) == f"not counted: {why}"


def test_known_names_are_counted_beside_unknown_ones(project: Project) -> None:
    radius = project.radius("rm build/one $x")
    assert radius.touched[0].files == 1
    assert radius.unknown


def test_the_data_serve_to_rescue_what_would_be_lost(project: Project) -> None:
    touched = project.touched("rm -rf build src/link elsewhere/mine")
    root = str(project.root)
    assert set(touched.paths) == {f"{root}/build", f"{root}/src/link", f"{project.home}/mine"}
    assert touched.command == ("rm", "-rf", "build", "src/link", "elsewhere/mine")
    assert (touched.files, touched.directories, touched.outside) == (7, 1, 1)


def test_nothing_is_counted_twice(project: Project) -> None:
    assert project.touched("rm -rf build build/one ./build src/../build").files == 5


def test_without_a_repository_it_is_said(bare: Project) -> None:
    write(bare.root, {"a": "1", "b/c": "2"})
    assert _names_sorted(bare.lines("rm -r *")) == _names_sorted(
        ["deletes 2 files, 2 B", "they aren't in a git repository: a, b/c"]
    )


def test_a_repository_that_goes_itself_keeps_nothing(project: Project) -> None:
    for command in ("rm -rf .git build", f"rm -rf {project.root}"):
        touched = project.touched(command)
        assert touched.repositories == 1
        assert touched.not_in_git == touched.files
        assert str(touched.lines()[1]) == "1 git repository with its history"


def test_a_repository_inside_is_named(bare: Project) -> None:
    repository(bare.root, {"a": "1"})
    repository(bare.root / "vendor" / "lib", {"x": "1"})
    touched = bare.touched("rm -rf vendor")
    assert touched.repositories == 1
    assert touched.not_in_git == touched.files


def test_commits_that_are_nowhere_else_are_counted(bare: Project) -> None:
    repository(bare.root, {"a": "1"})
    git(bare.root, "checkout", "-q", "-b", "side")
    for number in ("2", "3"):
        write(bare.root, {"a": number})
        git(bare.root, "commit", "-q", "-a", "-m", number)
    git(bare.root, "branch", "twin")
    write(bare.root, {"a": "4"})
    git(bare.root, "stash", "-q")
    write(bare.root, {"a": "5"})
    git(bare.root, "stash", "-q")
    assert bare.lines("git reset --hard main") == ["the branch loses 2 commits"]
    assert bare.lines("git branch -D twin") == [
        "deletes branch twin; its commits are on other branches too"
    ]
    git(bare.root, "stash", "clear")
    git(bare.root, "branch", "-D", "twin")
    git(bare.root, "checkout", "-q", "main")
    assert bare.lines("git branch -D side") == [
        "deletes branch side and 2 commits that no other branch has"
    ]
    assert bare.lines("git branch -d side") == []


def test_stashes_are_counted(bare: Project) -> None:
    repository(bare.root, {"a": "1"})
    for text in ("2", "3"):
        write(bare.root, {"a": text})
        git(bare.root, "stash", "-q")
    assert bare.lines("git stash clear") == ["drops 2 stashes"]


def test_the_persons_own_ignore_rules_hold_for_git_clean(bare: Project) -> None:
    repository(bare.root, {"a": "1"})
    write(bare.root, {"new": "1", "editor.swp": "2"})
    write(bare.home, {".gitconfig": "[core]\n\texcludesFile = ~/ignored\n", "ignored": "*.swp\n"})
    assert bare.lines("git clean -f") == ["deletes 1 file, 1 B", "it isn't in git: new"]
    assert bare.lines("git clean -fX")[1] == "it isn't in git: editor.swp"


def test_copying_a_directory_over_another_overwrites_what_both_have(bare: Project) -> None:
    write(bare.root, {"from/x": "1", "from/sub/y": "2", "from/z": "3"})
    write(bare.root, {"to/from/x": "111", "to/from/sub/y": "2222", "to/from/own": "5"})
    touched = bare.touched("cp -r from to")
    assert (touched.verb, touched.files, touched.bytes) == ("overwrites", 2, 7)


HOSTILE = [
    b"-rf",
    b"$(touch x)",
    b"`touch x`",
    b"two\nlines",
    b"bad\xff\xfename",
    b"esc\x1b[2Jape",
    "right\u202eleft".encode(),
    b":(exclude)*",
    b'"quoted"',
    b"back\\slash",
    b" ",
    b"*",
]


@pytest.mark.parametrize("is_repository", [True, False])
@pytest.mark.parametrize(
    "command",
    [
        "rm -rf odd",
        "rm -rf odd/*",
        "find odd -type f -delete",
        "git clean -fdx",
        "git clean -fdx odd/*",
    ],
)
def test_hostile_names_are_counted_and_shown_harmlessly(
    bare: Project, command: str, is_repository: bool
) -> None:
    if is_repository:
        repository(bare.root, {"a": "1", "odd/kept": "2"})
    write(bare.root, {"odd/plain": "1"})
    for name in HOSTILE:
        Path(os.fsdecode(os.fsencode(bare.root) + b"/odd/" + name)).write_text("x")
    before = state_of(bare.directory)
    radius = bare.radius(command)
    assert state_of(bare.directory) == before
    if not is_repository and command.startswith("git"):
        assert radius.unknown
        return
    (touched,) = radius.touched
    tracked = 1 if is_repository and not command.startswith("git") else 0
    assert touched.files == len(HOSTILE) + 1 + tracked
    assert touched.not_in_git == len(HOSTILE) + 1
    for text in (*map(str, radius.lines()), *touched.names, *touched.not_in_git_names):
        assert text.isprintable(), text
        text.encode("utf-8")


def test_a_matched_name_can_be_an_option(bare: Project) -> None:
    write(bare.root, {"-r": "", "folder/x": "1"})
    assert bare.touched("rm *").files == 1, "the folder goes, the file named -r stays"
    assert bare.touched("rm -- *").files == 1
    assert bare.touched("rm ./*").files == 1


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*", ["a", "b.txt", "d"]),
        (".*", [".hidden"]),
        ("[ab]*", ["a", "b.txt"]),
        ("[^a]*", ["b.txt", "d"]),
        ("[!a]*", ["b.txt", "d"]),
        ("?", ["a", "d"]),
        ("d/*", ["d/inner"]),
        ("*/", ["d/"]),
        ("*/*", ["d/inner"]),
        ("**", ["a", "b.txt", "d"]),
        ("x*", []),
        ("[*]", []),
        ("./b*", ["./b.txt"]),
    ],
)
def test_wildcards_match_as_in_bash(tmp_path: Path, pattern: str, names: list[str]) -> None:
    write(tmp_path, {"a": "", "b.txt": "", ".hidden": "", "d/inner": "", "d/.dot": ""})
    assert matches(pattern, str(tmp_path), Clock(PLENTY)) == names


def test_links_are_counted_and_not_followed(bare: Project) -> None:
    write(bare.directory, {"big/file": "x" * 1000})
    (bare.root / "d").mkdir()
    (bare.root / "d" / "loop").symlink_to(bare.root / "d")
    (bare.root / "d" / "self").symlink_to("self")
    (bare.root / "d" / "out").symlink_to(bare.directory / "big")
    touched = bare.touched("rm -rf d")
    assert (touched.files, touched.directories, touched.outside) == (3, 1, 0)
    assert bare.lines("echo > d/self") == []
    assert bare.lines("cp d/self d/loop/loop/self") == []


def test_many_files_stop_at_the_time_limit(bare: Project) -> None:
    for folder in range(20):
        place = bare.root / "many" / str(folder)
        place.mkdir(parents=True)
        for number in range(1000):
            (place / str(number)).touch()
    hurried = bare.radius("rm -rf many", seconds=0.0)
    (touched,) = hurried.touched
    assert touched.at_least
    assert 0 < touched.files < 20_000
    assert str(hurried.lines()[0]).startswith(f"deletes at least {touched.files:,} files")
    whole = bare.touched("rm -rf many")
    assert not whole.at_least
    assert whole.files == 20_000
    assert str(whole.lines()[0]) == "deletes 20,000 files"


def test_a_slow_git_is_not_waited_for(bare: Project, tmp_path: Path) -> None:
    repository(bare.root, {"a": "1"})
    programs = tmp_path / "programs"
    programs.mkdir()
    slow = programs / "git"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    bare.environment["PATH"] = f"{programs}:{os.environ['PATH']}"
    started = time.monotonic()
    radius = bare.radius("rm a; git clean -fdx", seconds=0.2)
    assert time.monotonic() - started < 5
    assert radius.touched[0].not_in_git is None
    assert radius.lines()[1] == because("git_unknown")
    assert list(map(str, radius.unknown)) == ["git clean -fdx: there was no time to look"]


def test_what_cannot_be_read_is_said(bare: Project) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    write(bare.root, {"d/locked/x": "1"})
    (bare.root / "d" / "locked").chmod(0)
    try:
        radius = bare.radius("rm -rf d")
    finally:
        (bare.root / "d" / "locked").chmod(stat.S_IRWXU)
    assert list(map(str, radius.unknown)) == ["rm -rf d: 1 item can't be read"]


def test_a_hostile_repository_runs_nothing(bare: Project) -> None:
    repository(
        bare.root, {"a.txt": "1\n", "b.txt": "2\n", ".gitattributes": "* filter=evil diff=evil\n"}
    )
    canary = bare.directory / "canary"
    evil = bare.root / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n")
    evil.chmod(0o755)
    for key in (
        "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass",
        "filter.evil.clean", "filter.evil.smudge", "filter.evil.process",
        "diff.evil.textconv", "diff.evil.command", "diff.external", "alias.clean", "alias.ls-files",
        "credential.helper", "pager.diff", "pager.clean", "pager.ls-files",
    ):  # fmt: skip
        git(bare.root, "config", key, str(evil))
    hooks = bare.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in (
        "post-index-change",
        "post-checkout",
        "reference-transaction",
        "fsmonitor-watchman",
    ):
        (hooks / hook).write_text(evil.read_text())
        (hooks / hook).chmod(0o755)
    write(bare.root, {"a.txt": "changed\n", "new": "3"})
    before = state_of(bare.directory)
    for command in (
        "rm -rf *", "rm a.txt", "git clean -fdx", "git checkout .", "git reset --hard",
        "git restore .", "git rm -rf .", "git branch -D main", "git stash clear", "sed -i x a.txt",
        "git checkout -f main", "git switch -f main", "find . -delete",
    ):  # fmt: skip
        radius = bare.radius(command)
        assert not canary.exists(), command
        if command in {"git checkout .", "git reset --hard", "git restore ."}:
            assert "the repository sets" in str(radius.unknown[0])
    assert bare.touched("rm a.txt new").not_in_git == 1
    assert bare.touched("rm a.txt").uncommitted is None
    assert state_of(bare.directory) == before
    with contextlib.suppress(subprocess.CalledProcessError):
        git(bare.root, "diff")
    assert canary.exists(), "the trap is real"


def test_variables_of_the_environment_do_not_mislead_git(bare: Project, tmp_path: Path) -> None:
    repository(bare.root, {"a": "1"})
    repository(tmp_path / "decoy", {"b": "1"})
    bare.environment["GIT_DIR"] = str(tmp_path / "decoy" / ".git")
    assert bare.touched("rm a").not_in_git == 0


async def test_a_cancelled_count_ends_at_once(bare: Project) -> None:
    write(bare.root, {"a": "1"})
    workspace = Workspace(str(bare.root), home=str(bare.home))
    counting = asyncio.create_task(
        blast_radius(bare.destroys("rm a"), workspace, environment=bare.environment, seconds=PLENTY)
    )
    await asyncio.sleep(0)
    counting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await counting


async def test_nothing_destroyed_costs_nothing(bare: Project) -> None:
    workspace = Workspace(str(bare.root), home=str(bare.home))
    assert await blast_radius((), workspace, environment={}) == Impact()
