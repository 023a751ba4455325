"""Count what destructive commands would touch, within a time limit."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from agent_cli.safety.environment import search_path
from agent_cli.safety.impact.clock import Clock, NotCounted
from agent_cli.safety.impact.file_commands import EACH_WORD_ALONE, plans_of
from agent_cli.safety.impact.find_command import find_plans
from agent_cli.safety.impact.git_commands import git_outcome
from agent_cli.safety.impact.impact_steps import ImpactStep, look_afresh, opened_files, plan
from agent_cli.safety.impact.impact_summary import (
    ASKS_GIT,
    CHANGES,
    DELETES,
    OVERWRITES,
    Impact,
    Note,
    Touched,
)
from agent_cli.safety.impact.repository import ReadOnlyGit, Tracked, changed_at, tracked_at
from agent_cli.safety.impact.short_names import command_text, precious_first
from agent_cli.safety.impact.tree_count import CountRules, Tally, count
from agent_cli.safety.impact.wildcards import is_pattern, matches
from agent_cli.safety.paths import Workspace
from agent_cli.safety.reasons import Reason, because, quote_value
from agent_cli.safety.shell.lenient_words import UNKNOWN
from agent_cli.safety.shell.shell_facts import Destruction, absolute

MAX_COMMANDS = 50
_GRACE = 0.5


async def blast_radius(
    destroys: Sequence[Destruction],
    workspace: Workspace,
    *,
    environment: Mapping[str, str],
    seconds: float = 0.3,
) -> Impact:
    """What the commands would touch. Nothing is changed; links are not followed."""
    if not destroys:
        return Impact()
    clock = Clock(seconds)
    look_afresh()
    survey = _Survey(workspace, _for_programs(environment, workspace))
    try:
        # Looking at a dead network disk can block for good, and no clock in the thread helps.
        async with asyncio.timeout(seconds + _GRACE):
            await _in_thread(lambda: survey.all_of(destroys, clock))
    except TimeoutError:
        survey.unknown[because("disk_slow")] = None
    finally:
        clock.stop()
    return survey.radius()


def _for_programs(environment: Mapping[str, str], workspace: Workspace) -> dict[str, str]:
    kept = {name: environment[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in environment}
    path = search_path(environment.get("PATH", ""), workspace.root)
    return {**kept, "PATH": path, "LC_ALL": "C.UTF-8"}


async def _in_thread(work: Callable[[], None]) -> None:
    """Run in a thread that nobody has to wait for, not even at the end of the program."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def finish(error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def run() -> None:
        problem: BaseException | None = None
        try:
            work()
        except Exception as error:
            problem = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(finish, problem)

    threading.Thread(target=run, name="blast radius", daemon=True).start()
    await done


@dataclass
class _Survey:
    """Collects what is found, command by command."""

    workspace: Workspace
    environment: Mapping[str, str]
    touched: list[Touched] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    unknown: dict[Reason, None] = field(default_factory=dict)

    def radius(self) -> Impact:
        return Impact(tuple(self.touched), tuple(self.notes), tuple(self.unknown))

    def all_of(self, destroys: Sequence[Destruction], clock: Clock) -> None:
        looked_at = list(dict.fromkeys(destroys))
        for index, destruction in enumerate(looked_at[:MAX_COMMANDS]):
            share = clock.share(min(len(looked_at), MAX_COMMANDS) - index)
            try:
                self._one(destruction, share)
            except NotCounted as problem:
                self._not_known(destruction, problem.reason)
            except (OSError, ValueError) as error:
                self._not_known(
                    destruction, quote_value(getattr(error, "strerror", None) or str(error))
                )
        if len(looked_at) > MAX_COMMANDS:
            more = len(looked_at) - MAX_COMMANDS
            self.unknown[because("more_commands", n=more)] = None

    def _one(self, destruction: Destruction, clock: Clock) -> None:
        if destruction.hidden:
            raise NotCounted(destruction.hidden)
        for each in self._plans(destruction, clock):
            self._count(each, destruction, clock)

    def _plans(self, destruction: Destruction, clock: Clock) -> list[ImpactStep]:
        if destruction.verb in {">", ">>"}:
            return _plan_redirects(destruction, clock)
        cwd, argv = _standing(destruction), destruction.argv
        name = argv[0].rpartition("/")[2]
        if any(UNKNOWN in word for word in argv):
            if name not in EACH_WORD_ALONE:
                raise NotCounted(because("runtime_value"))
            self._not_known(destruction, because("runtime_value"))
            argv = tuple(word for word in argv if UNKNOWN not in word)
        argv, is_whole = _expand(argv, destruction, cwd, clock.share(2))
        plans = self._plans_of(argv, cwd, destruction, clock)
        return plans if is_whole else [replace(each, is_partial=True) for each in plans]

    def _plans_of(
        self, argv: tuple[str, ...], cwd: str, destruction: Destruction, clock: Clock
    ) -> list[ImpactStep]:
        name = argv[0].rpartition("/")[2]
        if name == "find":
            return find_plans(argv, cwd, self.environment, clock)
        if name == "git":
            outcome = git_outcome(argv, cwd, ReadOnlyGit(self.environment, clock))
            self.notes += (Note(_command(destruction), lost) for lost in outcome.notes)
            return outcome.plans
        return plans_of(argv, cwd, clock.share(2))

    def _count(self, each: ImpactStep, destruction: Destruction, clock: Clock) -> None:
        tracked = self._find_tracked(each, clock)
        known = each.in_git
        look = CountRules(self.workspace, tracked.has if known is None else lambda path: known)
        tally = count(each.paths, look, clock, is_deep=each.is_deep)
        changed = self._count_changed(each, tracked, clock)
        if tally.unreadable:
            why = because("unreadable_items", n=tally.unreadable)
            self._not_known(destruction, why)
        if tally.files or tally.directories:
            tally.kept["uncommitted"] = changed or []
            touched = _describe_touched(each, tally, tracked, destruction, self.workspace)
            self.touched.append(
                replace(touched, uncommitted=None if changed is None else len(changed))
            )

    def _count_changed(self, each: ImpactStep, tracked: Tracked, clock: Clock) -> list[str] | None:
        try:
            return changed_at(tracked, ReadOnlyGit(self.environment, clock), is_deep=each.is_deep)
        except NotCounted:
            return None

    def _find_tracked(self, each: ImpactStep, clock: Clock) -> Tracked:
        if each.in_git is not None or each.verb not in ASKS_GIT:
            return Tracked(has_repository=True)
        git = ReadOnlyGit(self.environment, clock.share(3))
        return tracked_at(each.paths, git, deleted=each.verb == DELETES and each.is_deep)

    def _not_known(self, destruction: Destruction, why: Reason) -> None:
        self.unknown[because("named", name=command_text(destruction), why=why)] = None


def _command(destruction: Destruction) -> tuple[str, ...]:
    return tuple(word.replace(UNKNOWN, "…") for word in destruction.argv)


def _standing(destruction: Destruction) -> str:
    if destruction.cwd is None:
        raise NotCounted(because("unknown_directory"))
    return destruction.cwd


def _plan_redirects(destruction: Destruction, clock: Clock) -> list[ImpactStep]:
    (target,) = destruction.paths
    if UNKNOWN in target:
        raise NotCounted(because("runtime_value"))
    if not target.startswith("/"):
        raise NotCounted(because("unknown_directory"))
    cwd = destruction.cwd or "/"
    patterns = {absolute(text, cwd): pattern for text, pattern in destruction.globs}
    found = matches(patterns[target], cwd, clock) if target in patterns else []
    # The shell refuses to write to several files at once.
    names = found or [target] if len(found) < 2 else []
    verb = CHANGES if destruction.verb == ">>" else OVERWRITES
    return plan(verb, opened_files(names, cwd, clock))


def _expand(
    argv: tuple[str, ...], destruction: Destruction, cwd: str, clock: Clock
) -> tuple[tuple[str, ...], bool]:
    """The words after the shell has put names for wildcards, and whether these are all.

    Without a match they stay.
    """
    words: list[str] = []
    for word in argv:
        if not is_pattern(word):
            words.append(word)
            continue
        patterns = [pattern for text, pattern in destruction.globs if text == word] or [word]
        found = [name for pattern in patterns for name in matches(pattern, cwd, clock)]
        words += found or [word]
    return tuple(words), not clock.is_over


def _describe_touched(
    each: ImpactStep, tally: Tally, tracked: Tracked, destruction: Destruction, workspace: Workspace
) -> Touched:
    def named(kind: str) -> tuple[str, ...]:
        return precious_first(tally.kept.get(kind, ()), workspace)

    kinds = ("not in git", "outside", "uncommitted", "file")
    best = (path for kind in kinds for path in tally.kept.get(kind, ()))
    return Touched(
        verb=each.verb,
        command=_command(destruction),
        paths=each.paths,
        files=tally.files,
        directories=tally.directories,
        bytes=tally.bytes,
        not_in_git=None if tracked.files is None else tally.not_in_git,
        outside=tally.outside,
        repositories=tally.repositories if each.verb == DELETES else 0,
        has_repository=tracked.has_repository,
        at_least=tally.at_least or each.is_partial,
        names=precious_first(best, workspace),
        not_in_git_names=named("not in git"),
        uncommitted_names=named("uncommitted"),
        outside_names=named("outside"),
    )
