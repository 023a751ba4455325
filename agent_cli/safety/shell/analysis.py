"""Read a shell command: what it runs, what it touches, whether it is proven to only read."""

import re
import subprocess
import unicodedata
from functools import lru_cache

from agent_cli.safety.reasons import Reason, because
from agent_cli.safety.sensitive import is_own_policy, is_protected
from agent_cli.safety.shell import catastrophic, effects, table
from agent_cli.safety.shell.found import FoundCommand
from agent_cli.safety.shell.globs import literal
from agent_cli.safety.shell.lenient_words import UNKNOWN
from agent_cli.safety.shell.proof import Proof
from agent_cli.safety.shell.prove import prove
from agent_cli.safety.shell.scan import scan
from agent_cli.safety.shell.shell_facts import (
    Destruction,
    ShellContext,
    ShellFacts,
    SimpleCommand,
    absolute,
    inside,
    lexical,
)
from agent_cli.safety.shell.wrappers import WRAPPERS, embedded_commands, unwrap

MAX_LEVELS = 64
NOT_LOOKED_AT = (because("not_read_only"),)
HARMLESS_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
# Invisible, reordering and unassigned characters show the user something else than what runs.
ODD_CATEGORIES = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs", "Co", "Cn", "Cs"})


def analyse(command: str, place: ShellContext) -> ShellFacts:
    """All the facts about one command line; pure but for what `place` looks up."""
    invalid = _invalid(command)
    if invalid:
        return ShellFacts(unproven=(invalid,), unresolved=True, catastrophic=(invalid,))
    seen = _ScanFindings(place)
    seen.all_of(command)
    odd = odd_characters(command)
    proof = Proof(unproven=list(odd), unresolved=True) if odd else prove(command, place)
    if not place.trusted:
        proof.unproven.append(because("folder_untrusted"))
    if not place.shell_is_plain:
        proof.unproven.append(because("shell_altered"))
    _second_opinion(proof, seen)
    return seen.facts(proof)


def bash_accepts(command: str) -> bool:
    """The last opinion before a proof counts: does bash itself parse it? Nothing is run."""
    try:
        done = subprocess.run(
            ["/bin/bash", "--noprofile", "--norc", "-n", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            timeout=5,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and not done.stderr


def odd_characters(command: str) -> tuple[Reason, ...]:
    """Characters that the user cannot see or may take for others, named one by one."""
    if command.isascii() and not _CONTROL.search(command):
        return ()
    found = filter(None, dict.fromkeys(map(_odd, command)))
    return tuple(because("odd_character", name=name) for name in found)[:8]


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@lru_cache(maxsize=512)
def _odd(char: str) -> str:
    if char in "\n\t " or ("!" <= char <= "~"):
        return ""
    category = unicodedata.category(char)
    is_odd = category in ODD_CATEGORIES
    return f"U+{ord(char):04X} {unicodedata.name(char, category)}".strip() if is_odd else ""


def _invalid(command: str) -> Reason | None:
    if "\x00" in command:
        return because("has_nul")
    try:
        command.encode()
    except UnicodeEncodeError:
        return because("has_surrogate")
    return None


class _ScanFindings:
    """Collects what the lenient scan finds in a text and in the scripts within it."""

    def __init__(self, place: ShellContext) -> None:
        self.place = place
        self.commands: list[SimpleCommand] = []
        self.first_level: list[tuple[str, ...]] = []
        self.writes: dict[str, None] = {}
        self.dangers: dict[Reason, None] = {}
        self.catastrophic: dict[Reason, None] = {}
        self.destroys: list[Destruction] = []
        self.own: dict[Reason, None] = {}
        """The agent's own files, as commands name them that do more than read."""
        self.network = False
        self.exhausted = False

    def all_of(self, command: str) -> None:
        """Scan the text, then every script found in it, while the budget lasts."""
        place = self.place
        variables = {"HOME": place.home, "USER": place.home.rpartition("/")[2]}
        pending: list[tuple[str, str | None, int, bool, Reason | None]] = [
            (command, place.cwd, 0, False, None)
        ]
        # Only texts that make ever more text (an eval of itself) can use this up.
        budget = 200_000 + 20 * len(command)
        while pending:
            text, cwd, level, data, hidden = pending.pop()
            budget -= len(text) + 1
            if budget < 0:
                self.exhausted = True
                return
            result = scan(text, cwd, variables, data=data)
            deeper = level + 1
            pending.extend((script, cwd, deeper, False, hidden) for script in result.scripts)
            pending.extend((body, folder, deeper, True, hidden) for body, folder in result.data)
            if result.skeleton and catastrophic.fork_bomb("".join(result.skeleton)):
                self.catastrophic[because("fork_bomb")] = None
            for found in result.found:
                inner = hidden or effects.hidden_by([found.argv] if found.argv else [])
                for script in self._add_found(found, level, hidden):
                    pending.append((script, found.cwd, deeper, False, inner))

    def _add_found(self, found: FoundCommand, level: int, hidden: Reason | None) -> list[str]:
        if found.varies:
            hidden = hidden or because("names_from_loop")
        scripts: list[str] = []
        if level == 0:
            self.first_level.append(found.argv)
        levels = self._levels(found.argv, level, scripts)
        self._add_embedded(levels, found, level, scripts)
        if len(levels) == 1 and not found.writes and _is_one_faced(found.argv[0]):
            return scripts
        for path in effects.redirect_targets(found):
            if path not in HARMLESS_TARGETS:
                self.writes[path] = None
        self.destroys.extend(
            each
            for each in effects.redirections(found, hidden)
            if each.paths[0] not in HARMLESS_TARGETS
        )
        for depth, argv in enumerate(levels):
            self.writes |= dict.fromkeys(effects.writes_of(argv, found.cwd))
            self.dangers |= dict.fromkeys(effects.dangers_of(argv, found))
            self.network = self.network or effects.uses_network(argv, found)
            self._note_own(argv, found)
            inner = hidden or effects.hidden_by(levels[:depth])
            if destruction := effects.destruction_of(argv, found, inner):
                self.destroys.append(destruction)
        self.catastrophic |= dict.fromkeys(catastrophic.dangers_of(found, levels, self.place))
        fed = catastrophic.fed_script(found, levels)
        if fed:
            scripts.append(fed)
        return scripts

    def _note_own(self, argv: tuple[str, ...], found: FoundCommand) -> None:
        """Whatever a program makes of it: the agent's own files are named to no program unasked."""
        if table.only_reads(argv[0]) or argv[0] in {"cd", "git"}:
            return
        named = list(effects.may_name(argv, found.cwd, self.place.home))
        for _, pattern in found.globs:
            vague = re.sub(r"\[[^\]]{2,}\]", "?", pattern)
            matches = self.place.expand(absolute(vague, literal(found.cwd or self.place.home)))
            named += matches or ()
        for path in named:
            for each in (lexical(path), self.place.resolve(path)):
                if own := is_own_policy(each, self.place.home):
                    self.own[because("protected_path", path=each, why=own)] = None

    def _add_embedded(
        self, levels: list[tuple[str, ...]], found: FoundCommand, level: int, scripts: list[str]
    ) -> None:
        """Look at the commands that find, git and others are given among their arguments."""
        for inner in embedded_commands(levels[-1]) if levels else ():
            if inner.script:
                scripts.append(inner.script)
            elif inner.argv:
                below = self._levels(inner.argv, level + len(levels), scripts)
                alone = FoundCommand((), found.cwd)
                reasons = catastrophic.dangers_of(alone, below, self.place)
                self.catastrophic |= dict.fromkeys(reasons)

    def _levels(
        self, argv: tuple[str, ...], level: int, scripts: list[str]
    ) -> list[tuple[str, ...]]:
        levels: list[tuple[str, ...]] = []
        while argv and len(levels) < MAX_LEVELS:
            argv = _without_repeats(argv)
            levels.append(argv)
            text = " ".join(argv)
            known = UNKNOWN not in text
            shown = argv
            if not known:
                text = text.replace(UNKNOWN, "…")
                shown = tuple(word.replace(UNKNOWN, "…") for word in argv)
            depth = level + len(levels) - 1
            self.commands.append(SimpleCommand(shown, text, depth, NOT_LOOKED_AT, known))
            inner = unwrap(argv)
            if inner is None:
                break
            if inner.script is not None:
                scripts.append(inner.script)
                break
            argv = inner.argv
        return levels

    def facts(self, proof: Proof) -> ShellFacts:
        place = self.place
        sensitive = dict.fromkeys(proof.sensitive) | self.own
        for path in self.writes:
            real = place.resolve(path)
            for each in dict.fromkeys((path, real)):
                own = is_own_policy(each, place.home)
                why = is_protected(each, place.home)
                if own:
                    self.catastrophic[because("off_limits", path=path, why=own)] = None
                if why:
                    sensitive[because("protected_path", path=path, why=why)] = None
            if not inside(real, place.roots):
                sensitive[because("outside_workspace", path=path)] = None
        unproven = list(proof.unproven)
        if not unproven and (self.writes or self.catastrophic):
            unproven.append(because("writes_files"))
        return ShellFacts(
            commands=self._merge(proof),
            writes=tuple(self.writes),
            reads=tuple(proof.reads),
            unproven=tuple(dict.fromkeys(unproven)),
            needs_sandbox=tuple(proof.needs_sandbox),
            trees=tuple(proof.trees),
            sensitive=tuple(sensitive),
            unresolved=proof.unresolved,
            dangers=tuple(self.dangers),
            catastrophic=tuple(self.catastrophic),
            touches_network=self.network,
            destroys=tuple(self.destroys),
        )

    def _merge(self, proof: Proof) -> tuple[SimpleCommand, ...]:
        """What was proven, and the inner levels that only the lenient scan unwraps."""
        if proof.unresolved:
            return tuple(self.commands)
        judged = {command.argv for command in proof.commands}
        return (*proof.commands, *(each for each in self.commands if each.argv not in judged))


def _without_repeats(argv: tuple[str, ...]) -> tuple[str, ...]:
    """`env env env rm` is `env rm`, however often it is written."""
    index = 0
    while index + 1 < len(argv) and argv[index] == argv[index + 1] and argv[0] in WRAPPERS:
        index += 1
    return argv[index:]


def _is_one_faced(name: str) -> bool:
    return table.only_reads(name) and name not in effects.TWO_FACED


def _second_opinion(proof: Proof, seen: _ScanFindings) -> None:
    """Two readers that share no code must see the same commands, else nothing is proven."""
    if proof.unresolved and proof.unproven:
        return
    strict = [command.argv for command in proof.commands if command.level == 0]
    lenient = [argv for argv in seen.first_level if argv]
    if proof.has_values:
        # They know different things about values, and one of them goes round a loop.
        agree = {argv[0] for argv in strict} == {argv[0] for argv in lenient}
    else:
        agree = sorted(strict) == sorted(lenient)
    if seen.exhausted or not agree:
        proof.unresolved = True
        proof.unproven.append(because("unclear_command"))
