"""Whether a call may run: rules, facts and mode in, a decision with its reasons out.

`decide` is pure and is the whole policy. "Allow" is a proof, "deny" is best effort, "ask" is
everything else. The first step that applies decides:

    1. deny   the catastrophic, and our own policy files
    2. deny   a deny rule matches
    3. ask    an ask rule matches
    4. allow  the mode is yolo
    5. deny   the mode is plan, and the call isn't known to change nothing
    6. ask    a secret or protected file, or one outside the workspace that no allow rule names
    7. allow  allow rules match all of it, and nothing in it is unresolved
    8. allow  it is proven to change nothing, in a trusted folder; a command, in the read-only
              sandbox if there is one
    9. allow  an edit, in accept-edits and auto; in auto also a command that isn't dangerous, in
              the sandbox; with dangerous_cmd off any command whose every word is known
   10. ask    everything else
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from agent_cli.core.deciding.rules import (
    Facts,
    PatternBase,
    Rule,
    Rules,
    all_allowed,
    first_match,
    names_written,
    ruled_out,
)
from agent_cli.core.tool import ToolKind
from agent_cli.safety.reasons import Reason, because
from agent_cli.safety.sandbox import Profile


class Mode(StrEnum):
    """How much happens without a question."""

    DEFAULT = "default"
    ACCEPT_EDITS = "accept-edits"
    PLAN = "plan"
    AUTO = "auto"
    YOLO = "yolo"


class Effect(StrEnum):
    """What becomes of a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True)
class Decision:
    """An effect and why."""

    effect: Effect
    reasons: tuple[Reason, ...]
    rule: str | None = None
    """The rule that decided, if one did."""
    confined: Profile | None = None
    """It may run, but only inside the sandbox, and there with these rights."""


def decide(facts: Facts, policy: Policy) -> Decision:
    """The decision about a call. See the module's docstring for the order."""
    rules, mode, place, trusted = policy.rules, policy.mode, policy.place, policy.trusted
    if never := _never(facts):
        return Decision(Effect.DENY, never)
    if rule := first_match(rules.deny, facts, place):
        return Decision(Effect.DENY, (because("rule_denies", rule=rule.text),), rule.text)
    if rule := first_match(rules.ask, facts, place):
        return Decision(Effect.ASK, (because("rule_asks", rule=rule.text),), rule.text)
    if mode is Mode.YOLO:
        return Decision(Effect.ALLOW, (because("mode_yolo"),))
    unproven = facts.unproven
    if not policy.confines or ruled_out(rules, place, secret_too=False):
        # A sandbox keeps secrets from being read; of other files it knows no rules.
        unproven += facts.needs_sandbox
    if mode is Mode.PLAN and facts.kind is not ToolKind.READONLY and unproven:
        return Decision(Effect.DENY, (because("mode_plan"),))
    allowed = all_allowed(facts, rules.allow, place)
    if sensitive := _sensitive(facts, lifted=allowed is not None):
        return Decision(Effect.ASK, sensitive)
    if allowed is not None:
        return Decision(Effect.ALLOW, (because("rule_allows", rule=allowed.text),), allowed.text)
    if not unproven and not facts.needs_permission:
        if trusted or facts.kind is ToolKind.READONLY:
            confined = Profile.READ_ONLY if facts.in_shell and policy.confines else None
            return Decision(Effect.ALLOW, (because("read_only"),), confined=confined)
        return Decision(Effect.ASK, (because("folder_untrusted"),))
    if mode in (Mode.ACCEPT_EDITS, Mode.AUTO) and _edits_files(facts) and trusted:
        return Decision(Effect.ALLOW, (because("mode_accepts_edits"),))
    if mode is Mode.AUTO and policy.confines and trusted and _may_run_confined(facts):
        return Decision(Effect.ALLOW, (because("in_sandbox"),), confined=Profile.WORKSPACE)
    if not policy.ask_dangerous and _is_known_command(facts) and trusted:
        return Decision(Effect.ALLOW, (because("dangerous_allowed"),))
    return Decision(Effect.ASK, facts.dangers + unproven or (because("not_read_only"),))


def _edits_files(facts: Facts) -> bool:
    """Only what names the files it writes makes edits that a mode could accept."""
    return facts.kind is ToolKind.WRITE and names_written(facts) and not facts.only_by_name


def _may_run_confined(facts: Facts) -> bool:
    """A command that is not dangerous, and not bound to fail where there is no network."""
    is_command = facts.in_shell and bool(facts.commands)
    return is_command and not facts.dangers and not facts.touches_network


def _is_known_command(facts: Facts) -> bool:
    return facts.in_shell and bool(facts.commands) and not facts.unresolved


def _never(facts: Facts) -> tuple[Reason, ...]:
    return facts.catastrophic + tuple(
        because("off_limits", path=path.typed, why=path.forbidden)
        for path in facts.paths
        if path.forbidden
    )


def _sensitive(facts: Facts, *, lifted: bool) -> tuple[Reason, ...]:
    """Why a path wants a question; a matching allow rule lifts "outside", never the others."""
    reasons = list(facts.sensitive)
    for path in facts.paths:
        if path.secret:
            reasons.append(because("secret_path", path=path.typed, why=path.secret))
        if path.access == "write" and path.protected:
            reasons.append(because("protected_path", path=path.typed, why=path.protected))
        if path.outside and not lifted:
            reasons.append(because("outside_workspace", path=path.real))
    return tuple(reasons)


@dataclass
class Policy:
    """What applies in a session right now."""

    place: PatternBase
    rules: Rules = Rules()
    mode: Mode = Mode.DEFAULT
    trusted: bool = False
    ask_dangerous: bool = True
    """Whether dangerous commands need a question; the catastrophic are denied in any case."""
    confines: bool = False
    """Whether there is a sandbox to run commands in."""
    confine_approved: bool = False
    """Whether commands that the user agreed to run in it as well."""
    sender: Policy | None = None
    """The policy of whoever sent this agent: its rules apply here as they are at each decision."""
    own_mode: Mode | None = None
    """With a sender: the agent's own mode, which counts where it is the stricter one."""

    def decide(self, facts: Facts) -> Decision:
        """The decision about a call, by what applies now."""
        self.follow()
        return decide(facts, self)

    def may_read(self, tool: str) -> Callable[[str], bool] | None:
        """Whether a tool may read a path, for tools that look through many; None: any path."""
        self.follow()
        matchers = ruled_out(self.rules, self.place, tool)
        return (lambda path: not any(match(path) for match in matchers)) if matchers else None

    def would_allow(self, facts: Facts, *rules_too: str) -> bool:
        """Whether the call would run unasked if these rules were there."""
        rules = self.rules + Rules.parse(allow=rules_too)
        return decide(facts, replace(self, rules=rules)).effect is Effect.ALLOW

    def learn(self, rule: str) -> None:
        """Allow for the rest of the session what the user said yes to for good."""
        if self.sender is None:
            self.rules += Rules(allow=(Rule.parse(rule),))
        else:
            self.sender.learn(rule)
            self.follow()

    def follow(self) -> None:
        """Take over what has changed at the sender's."""
        if self.sender is not None:
            self.sender.follow()
            self.rules = self.sender.rules
            self.mode = stricter(self.sender.mode, self.own_mode)


STRICTNESS = (Mode.PLAN, Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.AUTO, Mode.YOLO)


def stricter(one: Mode, other: Mode | None) -> Mode:
    """Of two modes, the one in which less happens without a question."""
    return one if other is None else min(one, other, key=STRICTNESS.index)
