"""Count what destructive commands would touch, within a time limit."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from agent_cli.lib.threads import in_own_thread
from agent_cli.safety.environment import search_path
from agent_cli.safety.impact.clock import Clock, NotCounted
from agent_cli.safety.impact.file_commands import EACH_WORD_ALONE, plans_of
from agent_cli.safety.impact.find_command import find_plans
from agent_cli.safety.impact.git_commands import git_outcome
from agent_cli.safety.impact.impact_steps import (
    ImpactStep,
    as_partial,
    look_afresh,
    opened_files,
    plan,
)
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
            await in_own_thread(lambda: survey.all_of(destroys, clock))
    except TimeoutError:
        survey.unknown[because("disk_slow")] = None
    finally:
        clock.stop()
    return survey.radius()


def _for_programs(environment: Mapping[str, str], workspace: Workspace) -> dict[str, str]:
    kept = {name: environment[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in environment}
    path = search_path(environment.get("PATH", ""), workspace.root)
    return {**kept, "PATH": path, "LC_ALL": "C.UTF-8"}


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
                for each in self._plans(destruction, share):
                    self._count(each, destruction, share)
            except NotCounted as problem:
                self._not_known(destruction, problem.reason)
            except (OSError, ValueError) as error:
                said = getattr(error, "strerror", None) or str(error)
                self._not_known(destruction, quote_value(said))
        if len(looked_at) > MAX_COMMANDS:
            more = len(looked_at) - MAX_COMMANDS
            self.unknown[because("more_commands", n=more)] = None

    def _plans(self, destruction: Destruction, clock: Clock) -> list[ImpactStep]:
        if destruction.hidden:
            raise NotCounted(destruction.hidden)
        if destruction.verb in {">", ">>"}:
            return _plan_redirects(destruction, clock)
        cwd, argv = destruction.cwd, destruction.argv
        if cwd is None:
            raise NotCounted(because("unknown_directory"))
        name = argv[0].rpartition("/")[2]
        if any(UNKNOWN in word for word in argv):
            if name not in EACH_WORD_ALONE:
                raise NotCounted(because("runtime_value"))
            self._not_known(destruction, because("runtime_value"))
            argv = tuple(word for word in argv if UNKNOWN not in word)
        argv, is_whole = _expand(argv, destruction, cwd, clock.share(2))
        name = argv[0].rpartition("/")[2]
        if name == "find":
            plans = find_plans(argv, cwd, self.environment, clock)
        elif name == "git":
            outcome = git_outcome(argv, cwd, ReadOnlyGit(self.environment, clock))
            self.notes += (Note(_command(destruction), lost) for lost in outcome.notes)
            plans = outcome.plans
        else:
            plans = plans_of(argv, cwd, clock.share(2))
        return plans if is_whole else as_partial(plans)

    def _count(self, each: ImpactStep, destruction: Destruction, clock: Clock) -> None:
        tracked = self._find_tracked(each, clock)
        known = each.in_git
        look = CountRules(self.workspace, tracked.has if known is None else lambda path: known)
        tally = count(each.paths, look, clock, is_deep=each.is_deep)
        git = ReadOnlyGit(self.environment, clock)
        changed: list[str] | None = None
        with suppress(NotCounted):
            changed = changed_at(tracked, git, is_deep=each.is_deep)
        if tally.unreadable:
            self._not_known(destruction, because("unreadable_items", n=tally.unreadable))
        if tally.files or tally.directories:
            touched = _describe_touched(each, tally, tracked, changed, self.workspace)
            self.touched.append(replace(touched, command=_command(destruction)))

    def _find_tracked(self, each: ImpactStep, clock: Clock) -> Tracked:
        if each.in_git is not None or each.verb not in ASKS_GIT:
            return Tracked(has_repository=True)
        git = ReadOnlyGit(self.environment, clock.share(3))
        return tracked_at(each.paths, git, deleted=each.verb == DELETES and each.is_deep)

    def _not_known(self, destruction: Destruction, why: Reason) -> None:
        self.unknown[because("named", name=command_text(destruction), why=why)] = None


def _command(destruction: Destruction) -> tuple[str, ...]:
    return tuple(word.replace(UNKNOWN, "…") for word in destruction.argv)


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
    each: ImpactStep,
    tally: Tally,
    tracked: Tracked,
    changed: list[str] | None,
    workspace: Workspace,
) -> Touched:
    def named(kind: str) -> tuple[str, ...]:
        return precious_first(tally.kept.get(kind, ()), workspace)

    tally.kept["uncommitted"] = changed or []
    kinds = ("not in git", "outside", "uncommitted", "file")
    best = (path for kind in kinds for path in tally.kept.get(kind, ()))
    return Touched(
        verb=each.verb,
        paths=each.paths,
        files=tally.files,
        directories=tally.directories,
        bytes=tally.bytes,
        not_in_git=None if tracked.files is None else tally.not_in_git,
        uncommitted=None if changed is None else len(changed),
        outside=tally.outside,
        repositories=tally.repositories if each.verb == DELETES else 0,
        has_repository=tracked.has_repository,
        at_least=tally.at_least or each.is_partial,
        names=precious_first(best, workspace),
        not_in_git_names=named("not in git"),
        uncommitted_names=named("uncommitted"),
        outside_names=named("outside"),
    )
